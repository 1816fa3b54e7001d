"""Water with waves: the sea that a vehicle feels, drawn."""
