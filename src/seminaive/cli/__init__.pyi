from seminaive.cli.commands import app as app
from seminaive.cli.commands import main as main
