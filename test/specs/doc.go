// Package specs checks requests and routes against what the clouds publish about their services. It knows no driver and no simulator: tests
// of both use it.
package specs
