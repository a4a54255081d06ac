"""Newton steps with a Hessian that serves several of them."""

import numpy as np
from scipy.special import expit

from seminaive.solvers.newton import STEPS_PER_HESSIAN, minimize_newton


def test_the_first_step_tried_with_a_new_hessian_is_that_of_newton():
    rng = np.random.default_rng(0)
    design = rng.normal(size=(300, 6)) * np.geomspace(0.3, 10, 6)
    signs = np.where(design @ np.ones(6) > 0, 1.0, -1.0)  # separable: the curvature changes a lot
    ridge = 1e-3
    visited = []

    def objective(z):
        visited.append(("point", z.copy()))
        margins = signs * (design @ z)
        value = np.logaddexp(0, -margins).sum() + 0.5 * ridge * z @ z
        return float(value), gradient_at(z)

    def gradient_at(z):
        return design.T @ (-signs * expit(-signs * (design @ z))) + ridge * z

    def hessian_at(z):
        p = expit(design @ z)
        return design.T @ (design * (p * (1 - p))[:, None]) + ridge * np.eye(6)

    def hessian(z):
        visited.append(("hessian", z.copy()))
        return hessian_at(z)

    result = minimize_newton(objective, hessian, np.zeros(6), tol=1e-9)
    assert result.converged
    renewals = [i for i, (kind, _) in enumerate(visited) if kind == "hessian"]
    assert len(renewals) >= 2
    assert result.n_iter > STEPS_PER_HESSIAN
    for i in renewals:
        here, tried = visited[i][1], visited[i + 1][1]
        step = -np.linalg.solve(hessian_at(here), gradient_at(here))
        # The jitter, 1e-9 of a mean diagonal below 3000, is 0.3 % of the smallest curvature, the ridge.
        np.testing.assert_allclose(tried - here, step, atol=0.01 * np.linalg.norm(step))
