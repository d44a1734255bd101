package acp_test

func perform(string) int { return 0 }
