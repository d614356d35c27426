package aws

// Operations are the names of all actions, by service.
func Operations() map[string][]string { return known().Actions }
