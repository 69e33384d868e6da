"""Which elements of the equations of motion vanish, are constant or depend on which joints."""
