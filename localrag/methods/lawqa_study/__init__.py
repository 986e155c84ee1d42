"""Ways of answering questions with options: the published study of lawqa_jp."""
