"""pyAgrum's tree-augmented naive Bayes on a table of codes."""

from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
from pyagrum.skbn import BNClassifier


class PyAgrumTAN:
    """TAN with a row added to every cell; classes are codes."""

    def fit(self, codes, labels):
        """Learn tree and tables."""
        processor = DiscreteTypeProcessor(
            defaultDiscretizationMethod="NoDiscretization", defaultNumberOfBins=None
        )
        self.model = BNClassifier(
            learningMethod="TAN", prior="Smoothing", priorWeight=1, type_processor=processor
        )
        self.model.fit(codes.astype(int), labels.astype(int))
        return self

    def predict(self, codes):
        """Return the most probable class of each row."""
        return self.model.predict(codes.astype(int)).astype(int)
