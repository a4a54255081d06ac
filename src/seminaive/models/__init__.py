"""The estimators, one public class per file; a file is read when its class is first used."""

from seminaive.lazy_names import names_on_first_use

__getattr__, __dir__, __all__ = names_on_first_use(__name__)
