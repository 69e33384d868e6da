"""What results have in common: reports, tables, the look of figures, pages for notebooks."""
