"""Metrics, experiments and statistical comparisons for any scikit-learn classifier."""

from seminaive.evaluate.bias_variance import (
    BiasVariance,
    bias_variance,
    bias_variance_by_cross_validation,
)
from seminaive.evaluate.calibration_display import CalibrationDisplay
from seminaive.evaluate.column_effects_display import ColumnEffectsDisplay
from seminaive.evaluate.continuum_display import ContinuumDisplay
from seminaive.evaluate.datasets import (
    Dataset,
    available_datasets,
    load_dataset,
    read_table,
    real_table,
    real_table_names,
    register_dataset,
)
from seminaive.evaluate.decision_curve_display import DecisionCurveDisplay
from seminaive.evaluate.estimate import LossEstimate, estimate_losses
from seminaive.evaluate.experiment import Experiment
from seminaive.evaluate.forecast import LearningCurveForecast, learning_curve_forecast
from seminaive.evaluate.instability_display import InstabilityDisplay
from seminaive.evaluate.metrics import (
    METRICS,
    CalibrationCurve,
    CoefficientError,
    Metric,
    Predictions,
    accuracy,
    area_under_curve,
    calibration_curve,
    calibration_error,
    coefficient_error,
    log_loss,
    macro_f1,
    root_mean_squared_error,
    root_squared_probability_error,
    squared_error,
    zero_one_loss,
)
from seminaive.evaluate.pairwise_tests import (
    TestResult,
    WinDrawLoss,
    corrected_resampled_t_test,
    paired_t_test,
    sign_test,
    wilcoxon_test,
    win_draw_loss,
)
from seminaive.evaluate.ranking import (
    PairwiseRankTests,
    average_ranks,
    bergmann_hommel,
    compare_ranks,
    critical_difference,
    exhaustive_sets,
    friedman_test,
    holm,
    iman_davenport_test,
    nemenyi,
    pairwise_rank_tests,
)
from seminaive.evaluate.repetitions import run_repetitions
from seminaive.evaluate.report import Report
from seminaive.evaluate.resampling import (
    FIVE_BY_TWO,
    GivenSplit,
    Prequential,
    RepeatedHoldout,
    RepeatedKFold,
    Resampling,
    Split,
)
from seminaive.evaluate.results_file import ExperimentResults, load_results
from seminaive.evaluate.rows_needed import RowsNeeded, rows_needed
from seminaive.evaluate.summary import LossSummary, summarise
from seminaive.evaluate.validation import validate
from seminaive.evaluate.validation_result import Validation

__all__ = [
    "FIVE_BY_TWO",
    "METRICS",
    "BiasVariance",
    "CalibrationCurve",
    "CalibrationDisplay",
    "CoefficientError",
    "ColumnEffectsDisplay",
    "ContinuumDisplay",
    "Dataset",
    "DecisionCurveDisplay",
    "Experiment",
    "ExperimentResults",
    "GivenSplit",
    "InstabilityDisplay",
    "LearningCurveForecast",
    "LossEstimate",
    "LossSummary",
    "Metric",
    "PairwiseRankTests",
    "Predictions",
    "Prequential",
    "RepeatedHoldout",
    "RepeatedKFold",
    "Report",
    "Resampling",
    "RowsNeeded",
    "Split",
    "TestResult",
    "Validation",
    "WinDrawLoss",
    "accuracy",
    "area_under_curve",
    "available_datasets",
    "average_ranks",
    "bergmann_hommel",
    "bias_variance",
    "bias_variance_by_cross_validation",
    "calibration_curve",
    "calibration_error",
    "coefficient_error",
    "compare_ranks",
    "corrected_resampled_t_test",
    "critical_difference",
    "estimate_losses",
    "exhaustive_sets",
    "friedman_test",
    "holm",
    "iman_davenport_test",
    "learning_curve_forecast",
    "load_dataset",
    "load_results",
    "log_loss",
    "macro_f1",
    "nemenyi",
    "paired_t_test",
    "pairwise_rank_tests",
    "read_table",
    "real_table",
    "real_table_names",
    "register_dataset",
    "root_mean_squared_error",
    "root_squared_probability_error",
    "rows_needed",
    "run_repetitions",
    "sign_test",
    "squared_error",
    "summarise",
    "validate",
    "wilcoxon_test",
    "win_draw_loss",
    "zero_one_loss",
]
