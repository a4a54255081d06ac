"""Published tables that nothing runs yet, each with its reason.

A module that runs one of them takes it off this list by naming it in its own ``REPRODUCTIONS``.
"""

__all__ = ["REASONS"]

_NBRLR = "its model, naive Bayes regularised logistic regression, has no protocol module yet"
_ALR = "its models, ALR, AnJE and AnDE, have no protocol module yet"
_PHONEME = "Phoneme, which has half of its cells, is not among the tables of SEMINAIVE_DATA"
_HYBRID = "the hybrid of logistic regression and naive Bayes is a model still to come"
_FSNB = "forward stagewise and its rivals among selective naive Bayes are models still to come"
_VETERANS = "the veterans' records are confidential and cannot be bundled"
_FSNB_PAIRS = (
    "it needs the results on every single data set, and the models are still to come; the 13 mean errors of "
    "Tables 1 to 3 do not give the printed values"
)
_FMRI = "the StarPlus fMRI scans are not among the tables of SEMINAIVE_DATA, and the models are still to come"

REASONS: dict[str, tuple[str, str]] = {
    "alr-footnote6": ("0-1 loss where LR and ALR differ", _PHONEME),
    "alr-table1": ("The 77 data sets", _ALR),
    "alr-table2": ("ALR against AnJE", _ALR),
    "alr-table3": ("ALR against AnDE", _ALR),
    "alr-table4": ("ALR against random forest", _ALR),
    "dissertation-table1.1": ("The 25 data sets of chapter 1", _HYBRID),
    "dissertation-table1.2": ("Hybrid against LR and naive Bayes", _HYBRID),
    "dissertation-table1.3": ("Hybrid against random forest", _HYBRID),
    "dissertation-table1.4": ("Hybrid against lasso", _HYBRID),
    "dissertation-table2.1": ("Simulation setting 1", _NBRLR),
    "dissertation-table2.2": ("Simulation setting 2", _NBRLR),
    "dissertation-table2.3": ("Simulation setting 3, continuous predictors", _NBRLR),
    "dissertation-table2.4": ("Squared bias of the coefficients", _NBRLR),
    "dissertation-table2.5": ("Variance of the coefficients", _NBRLR),
    "dissertation-table2.6": ("The 12 data sets of chapter 2", _NBRLR),
    "dissertation-table2.7": ("Six categorical data sets", _NBRLR),
    "dissertation-table2.8": ("Six continuous data sets", _NBRLR),
    "dissertation-table3.1": ("Veterans' data, category frequencies", _VETERANS),
    "dissertation-table3.2": ("Predicting post-traumatic stress disorder", _VETERANS),
    "dissertation-tableA1": ("Average structure of the hybrid", _HYBRID),
    "dissertation-tableA2": ("0-1 loss per data set", _HYBRID),
    "dissertation-tableA3": ("RMSE per data set", _HYBRID),
    "dissertation-tableA4": ("Training time per data set", _HYBRID),
    "fsnb-table1": ("Four synthetic scenarios", _FSNB),
    "fsnb-table2": ("Three binary versions of the Diabetes data", _FSNB),
    "fsnb-table3": ("Six StarPlus fMRI subjects", _FMRI),
    "fsnb-table4": ("All pairs of six methods by Bergmann and Hommel", _FSNB_PAIRS),
    "hybrid-table1": ("The 21 data sets", _HYBRID),
    "hybrid-table2": ("Markov blanket, structure and accuracy", _HYBRID),
    "nbrlr-table1": ("Simulation setting 1, logistic model", _NBRLR),
    "nbrlr-table2": ("Simulation setting 2, generative model", _NBRLR),
    "nbrlr-table3": ("Squared bias of the coefficients", _NBRLR),
    "nbrlr-table4": ("Variance of the coefficients", _NBRLR),
    "nbrlr-table5": ("The 30 data sets", _NBRLR),
    "nbrlr-table6": ("NBRLR against LR and naive Bayes", _NBRLR),
    "nbrlr-table7": ("NBRLR against the hybrid", _HYBRID),
    "nbrlr-table8": ("NBRLR against lasso, ridge and elastic net", _NBRLR),
}
