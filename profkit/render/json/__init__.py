"""JSON reports: objects whose `schema` names their form."""
