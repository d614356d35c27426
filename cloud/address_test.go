package cloud_test

import (
	"testing"

	"github.com/muster-project/muster/cloud"
)

// TestLoopback holds that a name that merely begins as a loopback address does is another machine.
func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST": true, "127.0.0.1": true, "127.9.8.7": true, "::1": true,
		"127.example.com": false, "127.0.0.1.example.com": false, "localhost.example.com": false, "10.0.0.1": false, "": false,
	} {
		if got := cloud.Loopback(host); got != want {
			t.Errorf("Loopback(%q) is %t, want %t", host, got, want)
		}
	}
}
