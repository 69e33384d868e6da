"""The studio: an arm and its dynamics in the browser."""
