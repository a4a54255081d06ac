"""Laws of the shrink-to-target path solver, against independent formulas and other libraries."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numba import njit
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from seminaive.design.reference import ReferenceDesign
from seminaive.errors import ConvergenceWarning, InputError
from seminaive.kernels import path_elastic_net
from seminaive.kernels.path_problem import new_softmax
from seminaive.objective.penalties import ElasticNet
from seminaive.solvers import PathOptions, elastic_net_path, logistic_path, softmax_path


@njit
def minimise_quadratic(gram, q, u, x, l1, l2, tol, max_cycles, active, step, factor, n_scores, softmax):
    return path_elastic_net.minimise_quadratic(
        gram, q, u, x, l1, l2, tol, max_cycles, active, step, factor, n_scores, softmax
    )


FREE = ElasticNet(penalize_intercept=False)
TIGHT = PathOptions(gap_tol=1e-9, residual_tol=1e-9)


def mixed_codes(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    numbers = rng.normal([0.0, 2.0], size=(n_rows, 2))
    return numbers, np.column_stack([rng.integers(0, 3, n_rows), rng.integers(0, 5, n_rows)]), rng


def mixed_problem(n_classes=2, n_rows=300, seed=0):
    """Two numbers, columns of 3 and 5 categories, labels that depend on all of them."""
    numbers, codes, rng = mixed_codes(n_rows, seed)
    design = ReferenceDesign.of(numbers, codes, [3, 5], [1, 0])
    truth = rng.normal(size=(design.n_coefficients, n_classes))
    scores = design.scores(truth) + rng.gumbel(size=(n_rows, n_classes))
    return design, scores.argmax(axis=1)


def dense(design):
    return design.scores(np.eye(design.n_coefficients))


def loss_of(design, labels, coefficients, weight=1.0, offset=0.0):
    """Weighted negative log-likelihood, written plainly."""
    scores = dense(design) @ coefficients + offset
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores[:, 0]])
    log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    return -(weight * log_p[np.arange(len(labels)), labels]).sum()


def objective_of(design, labels, coefficients, target, strength, share=1.0, first=0):
    away = (coefficients - target)[first:]
    return loss_of(design, labels, coefficients) + strength * (
        share * np.abs(away).sum() + (1 - share) / 2 * (away**2).sum()
    )


def kkt_residual(design, labels, coefficients, target, strength, share=1.0, first=0, zero=0.0):
    """Worst violation of stationarity, from a gradient by the textbook formula.

    A deviation of at most ``zero`` counts as none.
    """
    A = dense(design)
    scores = A @ coefficients
    if scores.shape[1] == 1:
        gradient = A.T @ ((labels == 1)[:, None] - 1 / (1 + np.exp(-scores)))
    else:
        p = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
        gradient = A.T @ (np.eye(scores.shape[1])[labels] - p)
    away = coefficients - target
    strengths = np.full(away.shape, strength)
    strengths[:first] = 0.0
    pull = gradient - strengths * (1 - share) * away
    at_target = np.maximum(0, np.abs(pull) - strengths * share)
    moved = np.abs(pull - strengths * share * np.sign(away))
    return np.where(np.abs(away) <= zero, at_target, moved).max()


class TestLimits:
    def test_strength_zero_is_maximum_likelihood(self):
        import statsmodels.api as sm

        design, labels = mixed_problem()
        path = logistic_path(design, labels, ElasticNet(np.ones(design.n_coefficients)), strengths=[0.0])
        expected = sm.Logit(labels, dense(design)).fit(disp=0, tol=1e-12, maxiter=100).params
        # Both stop where the gradient is rounding; 1e-6 is the promise of the documentation.
        np.testing.assert_allclose(path.coefficients[0, :, 0], expected, atol=1e-6)

    @pytest.mark.parametrize("n_classes", [2, 4])
    def test_from_strength_max_on_the_answer_is_the_target_exactly(self, n_classes):
        design, labels = mixed_problem(n_classes)
        target = np.random.default_rng(1).normal(size=(design.n_coefficients, n_classes))
        path = softmax_path(design, labels, n_classes, ElasticNet(target))
        again = softmax_path(
            design, labels, n_classes, ElasticNet(target), strengths=[path.strength_max * 1.001]
        )
        assert np.array_equal(path.coefficients[0], target)
        assert np.array_equal(again.coefficients[0], target)
        assert not np.array_equal(path.coefficients[1], target)

    def test_strength_max_is_the_largest_gradient_at_the_target(self):
        design, labels = mixed_problem()
        target = np.linspace(-1, 1, design.n_coefficients)
        path = logistic_path(design, labels, ElasticNet(target))
        p = 1 / (1 + np.exp(-dense(design) @ target))
        assert path.strength_max == pytest.approx(np.abs(dense(design).T @ (labels - p)).max(), rel=1e-12)

    def test_two_class_softmax_is_the_logistic_model_at_the_same_strength(self):
        design, labels = mixed_problem()
        target = np.random.default_rng(2).normal(size=(design.n_coefficients, 2))
        two = softmax_path(design, labels, 2, ElasticNet(target), options=TIGHT)
        one = logistic_path(design, labels, ElasticNet(target[:, 1] - target[:, 0]), options=TIGHT)
        # Both are within 1e-9 of strength_max of stationarity; the curvature is of the order of 10.
        np.testing.assert_allclose(
            two.coefficients[:, :, 1] - two.coefficients[:, :, 0], one.coefficients[:, :, 0], atol=1e-6
        )
        np.testing.assert_allclose(two.strengths, one.strengths, rtol=1e-12)


class TestCertificates:
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("share", [1.0, 0.5])
    @pytest.mark.parametrize("penalize_intercept", [True, False])
    def test_every_point_of_a_long_path_is_stationary(self, n_classes, share, penalize_intercept):
        design, labels = mixed_problem(n_classes)
        n_scores = 1 if n_classes == 2 else n_classes
        target = np.random.default_rng(3).normal(size=(design.n_coefficients, n_scores))
        penalty = ElasticNet(target, l1_share=share, penalize_intercept=penalize_intercept)
        if n_scores == 1:
            path = logistic_path(design, labels, penalty, n_strengths=100)
        else:
            path = softmax_path(design, labels, n_classes, penalty, n_strengths=100)
        assert path.converged.all()
        assert len(path) == 100
        first = 0 if penalize_intercept else 1
        # Classes shifted together leave the deviations that were equal, often zero, apart by rounding.
        zero = 1e-12 if n_scores > 1 and share == 1.0 else 0.0
        for coefficients, strength in zip(path.coefficients, path.strengths, strict=True):
            residual = kkt_residual(design, labels, coefficients, path.target, strength, share, first, zero)
            assert residual <= 1.001e-6 * path.strength_max

    def test_the_gap_bounds_what_a_tighter_solution_gains(self):
        design, labels = mixed_problem()
        target = np.ones((design.n_coefficients, 1))
        loose = logistic_path(
            design, labels, ElasticNet(target), options=PathOptions(gap_tol=1e-2, residual_tol=1e-2)
        )
        best = logistic_path(design, labels, ElasticNet(target), strengths=loose.strengths, options=TIGHT)
        start = loss_of(design, labels, target)
        gains = [
            objective_of(design, labels, a, target, s) - objective_of(design, labels, b, target, s)
            for a, b, s in zip(loose.coefficients, best.coefficients, loose.strengths, strict=True)
        ]
        assert max(gains) > 1e-9 * start
        # The optimum itself is known to 1e-9 of the start.
        assert (np.array(gains) <= loose.gap * start + 1e-8 * start).all()

    def test_a_path_that_runs_out_of_steps_says_so_with_numbers(self):
        design, labels = mixed_problem()
        path = logistic_path(design, labels, strengths=[0.1], options=PathOptions(max_steps=1))
        with pytest.warns(ConvergenceWarning, match=r"duality gap of \d.*after \d+ passes"):
            path.warn_unless_converged()

    @pytest.mark.parametrize("standardize", [True, False])
    def test_the_unpenalised_fit_of_numbers_of_many_magnitudes_is_the_maximum_likelihood(self, standardize):
        rng = np.random.default_rng([11, 200, 3])
        numbers = rng.standard_cauchy((200, 3)) ** 3  # up to 1e7 times the median
        labels = (np.cbrt(numbers[:, 0]) + 0.3 * rng.normal(size=200) > 0).astype(np.int64)
        design = ReferenceDesign.of(numbers, np.empty((200, 0), dtype=np.uint8), [], [])
        penalty = ElasticNet(standardize=standardize)
        path = logistic_path(design, labels, penalty, strengths=[0.0])
        assert path.converged.all()
        # Newton's method without ridge or penalty; quadratic convergence leaves rounding.
        columns = np.column_stack([np.ones(200), numbers / numbers.std(axis=0)])
        found = np.zeros(4)
        for _ in range(60):
            p = expit(columns @ found)
            hessian = (columns.T * (p * (1 - p))) @ columns
            found = found + np.linalg.solve(hessian, columns.T @ (labels - p))
        best = np.logaddexp(0.0, (1 - 2 * labels) * (columns @ found)).sum()
        assert path.deviance[0] == pytest.approx(2 * best, rel=1e-8)

    def test_deviance_is_twice_the_loss(self):
        design, labels = mixed_problem(3)
        path = softmax_path(design, labels, 3, n_strengths=5)
        for coefficients, deviance in zip(path.coefficients, path.deviance, strict=True):
            assert deviance == pytest.approx(2 * loss_of(design, labels, coefficients), rel=1e-10)


class TestLibraries:
    @pytest.mark.parametrize("strength", [0.3, 3.0, 20.0])
    def test_zero_target_and_free_intercept_is_the_lasso_of_scikit_learn(self, strength):
        design, labels = mixed_problem()
        ours = logistic_path(design, labels, FREE, strengths=[strength]).coefficients[0]
        model = LogisticRegression(
            l1_ratio=1.0, C=1 / strength, solver="saga", tol=1e-12, max_iter=100_000, random_state=0
        )
        model.fit(dense(design)[:, 1:], labels)
        theirs = np.concatenate([model.intercept_, model.coef_[0]])[:, None]
        zero = np.zeros_like(ours)
        best = objective_of(design, labels, theirs, zero, strength, first=1)
        assert objective_of(design, labels, ours, zero, strength, first=1) <= best * (1 + 1e-9)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_l2_is_the_ridge_of_scikit_learn(self, n_classes):
        design, labels = mixed_problem(n_classes)
        penalty = ElasticNet(l1_share=0.0, penalize_intercept=False)
        model = LogisticRegression(C=1 / 2.0, tol=1e-12, max_iter=10_000).fit(dense(design)[:, 1:], labels)
        theirs = np.vstack([model.intercept_, model.coef_.T])
        if n_classes == 2:
            ours = logistic_path(design, labels, penalty, strengths=[2.0]).coefficients[0]
        else:
            ours = softmax_path(design, labels, n_classes, penalty, strengths=[2.0]).coefficients[0]
        zero = np.zeros_like(ours)
        best = objective_of(design, labels, theirs, zero, 2.0, share=0.0, first=1)
        assert objective_of(design, labels, ours, zero, 2.0, share=0.0, first=1) <= best * (1 + 1e-9)
        np.testing.assert_allclose(ours[1:], theirs[1:], atol=1e-5)

    def test_a_target_is_an_offset_for_glum(self):
        from glum import GeneralizedLinearRegressor

        design, labels = mixed_problem()
        target = np.linspace(-1, 1, design.n_coefficients)[:, None]
        strength, A = 4.0, dense(design)
        model = GeneralizedLinearRegressor(
            family="binomial", alpha=strength / len(labels), l1_ratio=1.0, fit_intercept=False,
            gradient_tol=1e-10, max_iter=1000,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(A, labels.astype(float), offset=(A @ target).ravel())
        theirs = target + model.coef_[:, None]
        ours = logistic_path(design, labels, ElasticNet(target), strengths=[strength]).coefficients[0]
        best = objective_of(design, labels, theirs, target, strength)
        assert objective_of(design, labels, ours, target, strength) <= best * (1 + 1e-9)


class TestInvariance:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_integer_weights_equal_repeated_rows(self, n_classes):
        design, labels = mixed_problem(n_classes)
        weight = np.random.default_rng(4).integers(0, 4, design.n_rows)
        repeated = np.repeat(np.arange(design.n_rows), weight)
        weighted = softmax_path(design, labels, n_classes, row_weight=weight.astype(float), options=TIGHT)
        plain = softmax_path(design.rows(repeated), labels[repeated], n_classes, options=TIGHT)
        np.testing.assert_allclose(weighted.strengths, plain.strengths, rtol=1e-10)
        np.testing.assert_allclose(weighted.coefficients, plain.coefficients, atol=1e-6)

    def test_permuting_rows_columns_and_classes_permutes_the_answer(self):
        design, labels = mixed_problem(3)
        rng = np.random.default_rng(5)
        rows, classes = rng.permutation(design.n_rows), np.array([2, 0, 1])
        numbers, codes, _ = mixed_codes()
        other = ReferenceDesign.of(numbers[rows][:, ::-1], codes[rows][:, ::-1], [5, 3], [0, 1])
        plain = softmax_path(design, labels, 3, options=TIGHT)
        moved = softmax_path(other, classes[labels[rows]], 3, options=TIGHT)
        back = moved.coefficients[:, [0, 2, 1, 7, 8, 3, 4, 5, 6]][:, :, classes]
        np.testing.assert_allclose(back, plain.coefficients, atol=1e-6)

    @pytest.mark.parametrize("value", [0.1, 3.7, 1e6 + 0.1])
    def test_a_constant_column_changes_nothing(self, value):
        design, labels = mixed_problem()
        columns = dense(design)[:, 1:]
        wider = np.column_stack([columns, np.full(len(columns), value)])
        for strengths in ([0.0], [5.0]):
            plain = logistic_path(
                ReferenceDesign.of(columns), labels, FREE, strengths=strengths, options=TIGHT
            )
            other = logistic_path(ReferenceDesign.of(wider), labels, FREE, strengths=strengths, options=TIGHT)
            assert (other.coefficients[:, -1] == 0).all()
            np.testing.assert_allclose(other.coefficients[:, :-1], plain.coefficients, atol=1e-6)

    @pytest.mark.parametrize("scale", [1e-9, 1e6, 1e12])
    def test_units_do_not_matter_on_standardised_columns(self, scale):
        design, labels = mixed_problem()
        columns = dense(design)[:, 1:]
        units = np.where(np.arange(columns.shape[1]) == 0, scale, 1.0)
        penalty = replace(FREE, standardize=True)
        plain = logistic_path(ReferenceDesign.of(columns), labels, penalty, options=TIGHT)
        moved = ReferenceDesign.of(columns * units + 100 * units)
        scaled = logistic_path(moved, labels, penalty, options=TIGHT)
        assert scaled.converged.all()
        np.testing.assert_allclose(scaled.strengths, plain.strengths, rtol=1e-8)
        np.testing.assert_allclose(
            scaled.coefficients[:, 1:, 0] * units, plain.coefficients[:, 1:, 0], atol=1e-5
        )

    def test_factors_that_differ_between_classes_are_not_shifted_away(self):
        design, labels = mixed_problem(3)
        factors = np.ones((design.n_coefficients, 3))
        factors[2] = [0.2, 1.0, 3.0]
        path = softmax_path(design, labels, 3, ElasticNet(factors=factors), strengths=[3.0], options=TIGHT)
        penalty = 3.0 * (factors * np.abs(path.coefficients[0])).sum()
        for shift in (-0.05, 0.05):
            moved = path.coefficients[0].copy()
            moved[2] += shift
            assert 3.0 * (factors * np.abs(moved)).sum() >= penalty - 1e-6

    def test_codes_are_the_same_as_dummy_columns(self):
        design, labels = mixed_problem()
        other = ReferenceDesign.of(dense(design)[:, 1:])
        for penalty in (ElasticNet(), FREE, ElasticNet(standardize=True)):
            a = logistic_path(design, labels, penalty, options=TIGHT)
            b = logistic_path(other, labels, penalty, options=TIGHT)
            np.testing.assert_allclose(a.coefficients, b.coefficients, atol=1e-5)

    def test_an_offset_in_the_span_of_the_columns_is_a_shifted_target(self):
        design, labels = mixed_problem()
        target = np.linspace(-1, 1, design.n_coefficients)
        shifted = logistic_path(design, labels, ElasticNet(target), options=TIGHT)
        offset = logistic_path(design, labels, offset=dense(design) @ target, options=TIGHT)
        np.testing.assert_allclose(
            shifted.coefficients[:, :, 0], offset.coefficients[:, :, 0] + target, atol=1e-8
        )

    @pytest.mark.parametrize("share", [1.0, 0.5, 0.0])
    def test_standardising_is_solving_on_standardised_columns(self, share):
        design, labels = mixed_problem()
        columns = dense(design)[:, 1:]
        means, deviations = columns.mean(axis=0), columns.std(axis=0)
        target = np.linspace(-1, 1, design.n_coefficients)
        penalty = ElasticNet(target, l1_share=share, standardize=True)
        ours = logistic_path(design, labels, penalty, options=TIGHT)
        scaled_target = np.concatenate([[target[0] + target[1:] @ means], target[1:] * deviations])
        scaled = logistic_path(
            ReferenceDesign.of((columns - means) / deviations),
            labels,
            ElasticNet(scaled_target, l1_share=share),
            options=TIGHT,
        )
        np.testing.assert_allclose(ours.strengths, scaled.strengths, rtol=1e-9)
        np.testing.assert_allclose(
            ours.coefficients[:, 1:, 0], scaled.coefficients[:, 1:, 0] / deviations, atol=1e-5
        )

    def test_a_factor_of_zero_frees_and_a_large_factor_holds(self):
        design, labels = mixed_problem()
        factors = np.ones(design.n_coefficients)
        factors[1], factors[2] = 0.0, 1e6
        path = logistic_path(design, labels, ElasticNet(factors=factors))
        assert (path.coefficients[:, 1] != 0).all()
        assert (path.coefficients[:-1, 2] == 0).all()

    def test_the_class_shift_makes_the_median_deviation_zero(self):
        design, labels = mixed_problem(4)
        path = softmax_path(design, labels, 4, ElasticNet(np.ones((design.n_coefficients, 4))))
        np.testing.assert_allclose(np.median(path.coefficients - path.target, axis=2), 0, atol=1e-12)


class TestSweeps:
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("standardize", [False, True])
    def test_the_sweeping_solver_agrees_with_second_derivatives(self, monkeypatch, n_classes, standardize):
        design, labels = mixed_problem(n_classes)
        penalty = ElasticNet(standardize=standardize)
        solve = (
            (lambda: logistic_path(design, labels, penalty, n_strengths=30))
            if n_classes == 2
            else (lambda: softmax_path(design, labels, 3, penalty, n_strengths=30))
        )
        newton = solve()
        monkeypatch.setattr(elastic_net_path, "_widest", lambda _n_scores, _n_rows: 1)
        swept = solve()
        assert swept.converged.all()
        np.testing.assert_allclose(swept.deviance, newton.deviance, rtol=1e-5)
        np.testing.assert_allclose(swept.coefficients, newton.coefficients, atol=1e-3)


class TestHardCases:
    def check(self, path):
        assert np.isfinite(path.coefficients).all()
        assert path.converged.all()

    @pytest.mark.parametrize("penalty", [ElasticNet(), FREE, ElasticNet(standardize=True)])
    def test_separable_classes(self, penalty):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(100, 4))
        labels = (X[:, 0] > 0).astype(int)
        path = logistic_path(ReferenceDesign.of(X), labels, penalty)
        self.check(path)
        separated = [((X @ b[1:] + b[0] > 0) == labels).all() for b in path.coefficients[:, :, 0]]
        late = path.strengths < 1e-2 * path.strength_max
        # Early on the path goes on; from a hundredth of strength_max it ends with the first separation.
        assert list(np.array(separated)[late]) == [False] * (late.sum() - 1) + [True]
        self.check(logistic_path(ReferenceDesign.of(X), labels, penalty, strengths=[0.0]))

    @pytest.mark.parametrize("penalty", [ElasticNet(), FREE, ElasticNet(standardize=True)])
    def test_constant_duplicated_and_badly_scaled_columns(self, penalty):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(100, 4))
        labels = (rng.random(100) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
        for columns in (
            np.column_stack([X, np.ones(100), np.zeros(100), X[:, 0]]),
            X * [1e-8, 1e8, 1.0, 1e4],
            X + np.array([1e6, -1e8, 0.0, 10.0]),
        ):
            self.check(logistic_path(ReferenceDesign.of(columns), labels, penalty))
            self.check(logistic_path(ReferenceDesign.of(columns), labels, penalty, strengths=[0.0]))

    def test_more_columns_than_rows(self):
        rng = np.random.default_rng(2)
        labels = np.arange(40) % 2
        self.check(logistic_path(ReferenceDesign.of(rng.normal(size=(40, 2000))), labels))

    def test_fifty_classes_and_one_row_per_class(self):
        rng = np.random.default_rng(3)
        labels = np.concatenate([np.arange(50), rng.integers(0, 50, 150)])
        self.check(softmax_path(ReferenceDesign.of(rng.normal(size=(200, 3))), labels, 50, n_strengths=20))
        self.check(softmax_path(ReferenceDesign.of(rng.normal(size=(3, 3))), np.arange(3), 3))

    @pytest.mark.parametrize("n_classes", [20, 21])  # medians between two scores, and at one
    def test_a_shift_of_all_classes_costs_a_quadratic_model_nothing(self, n_classes):
        rng = np.random.default_rng(0)
        columns = np.column_stack([np.ones(200), rng.integers(0, 2, (200, 4))])
        probability = rng.dirichlet(np.full(n_classes, 0.3), 200)
        labels = np.array([rng.choice(n_classes, p=row) for row in probability])
        g = (columns.T @ (np.eye(n_classes)[labels] - probability)).ravel()
        between = probability[:, :, None] * (np.eye(n_classes) - probability[:, None, :])
        q = len(g)
        gram = np.einsum("ij,ik,ice->jcke", columns, columns, between).reshape(q, q)
        gram[np.diag_indices(q)] *= 1 + 1e-10
        steepest = np.abs(g).max()
        l1, tol = np.full(q, 1e-3 * steepest), np.full(q, 1e-8 * steepest)
        cycles, lowest = [], []
        for shift in (0.0, 1.0, -5.0):
            x = np.full(q, shift)
            u = g - gram @ x
            scratch = np.empty(q, dtype=np.int64), np.empty(q), np.empty((q, q))
            cycles.append(
                minimise_quadratic(
                    gram, q, u, x, l1, np.zeros(q), tol, 500, *scratch, n_classes, new_softmax(n_classes)
                )
            )
            lowest.append(0.5 * x @ gram @ x - g @ x + l1 @ np.abs(x))
        # One Newton step on all 100 or so coefficients, due every |E| / 6 cycles, and a check, do it.
        assert max(cycles) <= q / 6 + 2
        # Residuals of 1e-8 of the steepest derivative, times coefficients of order one.
        np.testing.assert_allclose(lowest, lowest[0], rtol=1e-7)

    def test_bad_input_is_refused_with_a_sentence(self):
        design, labels = mixed_problem()
        for kwargs, words in (
            ({"strengths": [-1.0]}, "strengths must be finite"),
            ({"penalty": ElasticNet(np.ones(3))}, "target must be finite and of shape"),
            ({"penalty": ElasticNet(factors=-np.ones(design.n_coefficients))}, "cannot be negative"),
            ({"row_weight": -np.ones(design.n_rows)}, "row weights must be finite"),
            ({"offset": np.full(design.n_rows, np.nan)}, "offset must be finite"),
            ({"ratio": 2.0}, r"ratio is the least strength over the largest, in \(0, 1\], got 2.0"),
            ({"ratio": 0.0}, "ratio is the least strength"),
            ({"n_strengths": 0}, "n_strengths is a whole number, 1 or more, got 0"),
        ):
            with pytest.raises(InputError, match=words):
                logistic_path(design, labels, **kwargs)
        with pytest.raises(InputError, match="labels must lie in 0 to 1"):
            logistic_path(design, labels + 1)
        with pytest.raises(InputError, match="numbers must be finite"):
            ReferenceDesign.of(np.array([[np.nan]]))
        with pytest.raises(InputError, match="exceeds its column"):
            ReferenceDesign.of(codes=np.array([[4]]), cardinalities=[3])
        with pytest.raises(InputError, match="a code is negative"):
            ReferenceDesign.of(codes=np.array([[-1]]), cardinalities=[3])
        with pytest.raises(InputError, match="references must be codes"):
            ReferenceDesign.of(codes=np.array([[1]]), cardinalities=[3], references=[3])

    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"gap_tol": 0.0}, "gap_tol is a positive share"),
            ({"residual_tol": -1.0}, "residual_tol is a positive share"),
            ({"max_steps": 0}, "max_steps is a whole number"),
        ],
    )
    def test_options_out_of_range_are_refused_with_a_sentence(self, parameters, words):
        with pytest.raises(InputError, match=words):
            PathOptions(**parameters)
