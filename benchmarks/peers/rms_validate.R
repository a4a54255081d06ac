# rms::validate and rms::calibrate of an unpenalised logistic regression: Rscript rms_validate.R TABLE.csv B OUT.csv CURVE.csv
suppressMessages(library(rms))
given <- commandArgs(trailingOnly = TRUE)
table <- read.csv(given[1])
replays <- as.integer(given[2])
set.seed(1)
fitted <- lrm(y ~ ., data = table, x = TRUE, y = TRUE, maxit = 100, tol = 1e-14)
found <- validate(fitted, B = replays)
lines <- data.frame(measure = rownames(found), apparent = found[, "index.orig"], optimism = found[, "optimism"],
                    corrected = found[, "index.corrected"], n = found[, "n"])
write.csv(lines, given[3], row.names = FALSE)
curve <- calibrate(fitted, B = replays)
write.csv(data.frame(probability = curve[, "predy"], apparent = curve[, "calibrated.orig"],
                     corrected = curve[, "calibrated.corrected"]), given[4], row.names = FALSE)
cat(as.character(packageVersion("rms")), "\n")
