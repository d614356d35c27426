// Package workrequests simulates the service of the work requests of the Core Services: operations that go on after their request was
// answered, with their errors and logs.
package workrequests
