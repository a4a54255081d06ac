from seminaive.saving.model_files import load_model as load_model
from seminaive.saving.model_files import save_model as save_model
