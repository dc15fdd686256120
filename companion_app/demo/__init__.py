"""The demo vault: 200 notes of an invented person, with questions and the notes that answer them."""
