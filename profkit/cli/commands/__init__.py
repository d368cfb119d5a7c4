"""The commands of `profkit`, one module each; `cli.main` lists them."""
