"""What a study will cost before anything is submitted, and what it has cost after."""
