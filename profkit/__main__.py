"""`python -m profkit` is the command `profkit`."""

import sys

from profkit.cli.main import main

sys.exit(main())
