"""Reports as JSON: objects whose `schema` names their form."""
