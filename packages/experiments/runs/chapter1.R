# One method of chapter 1 on the splits of one table, by the packages of R that the chapter had.
# Rscript chapter1.R FOLDER METHOD: reads table.csv (class first, then factors) and test_rows.txt (a split each line), writes losses.csv.
arguments <- commandArgs(TRUE)
folder <- arguments[1]
method <- arguments[2]
table <- read.csv(file.path(folder, "table.csv"), colClasses = "character")
table[] <- lapply(table, factor)
test_rows <- as.matrix(read.table(file.path(folder, "test_rows.txt")))
n_classes <- nlevels(table$class)
indicators <- model.matrix(class ~ ., table)[, -1, drop = FALSE]

forest <- function(test) {
  grown <- randomForest::randomForest(class ~ ., data = table[-test, ], ntree = 100)
  predict(grown, table[test, ], type = "prob")
}

lasso <- function(test) {
  family <- if (n_classes == 2) "binomial" else "multinomial"
  chosen <- suppressWarnings(glmnet::cv.glmnet(
    indicators[-test, ], table$class[-test], family = family, type.measure = "mse", nfolds = 10
  ))
  answer <- predict(chosen, indicators[test, , drop = FALSE], s = "lambda.min", type = "response")
  if (n_classes == 2) cbind(1 - answer, answer) else answer[, , 1]
}

posterior <- list(RF = forest, Lasso = lasso)[[method]]
judge <- function(repetition) {
  set.seed(repetition)
  test <- test_rows[repetition, ]
  labels <- as.integer(table$class[test])
  started <- proc.time()[["user.self"]]
  answer <- posterior(test)
  seconds <- proc.time()[["user.self"]] - started
  missed <- max.col(answer, ties.method = "first") != labels
  c(100 * mean(missed), sqrt(mean((answer - diag(n_classes)[labels, , drop = FALSE])^2)), seconds)
}
losses <- t(sapply(seq_len(nrow(test_rows)), judge))
colnames(losses) <- c("L01", "RMSE", "seconds")
write.csv(losses, file.path(folder, "losses.csv"), row.names = FALSE)
