"""The estimators, one public class per file; a file is read when its class is first used."""

from seminaive.lazy_names import read_when_asked

__getattr__, __dir__, __all__ = read_when_asked(__name__)
