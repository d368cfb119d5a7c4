"""Jobs of four gloo ranks, one of them late or none, and what profkit's reports say of them."""
