package world

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestChildIsStartedAgain: a child that dies comes back, says why it died, and is given up when it dies again and again.
func TestChildIsStartedAgain(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	c := newChild("doomed", log, []string{os.Args[0], doomedChild}, os.Environ())
	c.pause = time.Millisecond
	go c.run(t.Context())
	err := <-c.failed
	if err == nil || !strings.Contains(err.Error(), "died 10 times in a row") || !strings.Contains(err.Error(), "nothing works today") {
		t.Fatalf("want it given up after ten deaths, with its last words; got: %v", err)
	}
	if s := c.snapshot(); s.Starts != maxDeaths || s.PID != 0 {
		t.Fatalf("want %d starts and no process, got %+v", maxDeaths, s)
	}
}

// TestChildEndsWithItsInput: this is what ends children whose supervisor is killed, so it must not need a signal.
func TestChildEndsWithItsInput(t *testing.T) {
	dir := layout(t.TempDir())
	if err := dir.make(); err != nil {
		t.Fatal(err)
	}
	c := newChild("patient", dir.log("patient"), []string{os.Args[0], patientChild, string(dir)}, os.Environ())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.run(ctx)
	}()
	// The child holds its lock from when it runs.
	for locked := false; !locked; {
		f, err := dir.acquire("patient", 0)
		locked = errors.Is(err, ErrInUse)
		if err == nil {
			_ = f.Close()
		}
	}
	cancel()
	<-ended
	f, err := dir.acquire("patient", 0)
	if err != nil {
		t.Fatalf("want the lock given back, got: %v", err)
	}
	_ = f.Close()
}

// TestLastLine: the supervisor tells why a child died in the child's own words.
func TestLastLine(t *testing.T) {
	for _, tc := range []struct{ reason, log, want string }{
		{"an error that it printed", "I1121 started\nerror: port 1 is taken\n", "port 1 is taken"},
		{"the last of several lives", "error: first\nI1121 started\nerror: second\n", "second"},
		{"a panic, whose trace follows", "panic: no such thing\n\ngoroutine 1 [running]:\nmain.main()\n", "no such thing"},
		{"out of memory", "fatal error: runtime: out of memory\n\nstack", "runtime: out of memory"},
		{"killed without a word", "I1121 started\n", ""},
		{"nothing at all", "", ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(log, []byte(tc.log), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := lastLine(log); got != tc.want {
				t.Fatalf("want %q, got %q", tc.want, got)
			}
		})
	}
}

// TestPlaces: ports are found again, give way when they are taken, except for the one that kubeconfigs lead to.
func TestPlaces(t *testing.T) {
	dir := layout(t.TempDir())
	first, err := dir.places(0)
	if err != nil {
		t.Fatal(err)
	}
	again, err := dir.places(0)
	if err != nil || again != first {
		t.Fatalf("want %+v found again, got %+v, %v", first, again, err)
	}
	hold(t, first.AWS)
	moved, err := dir.places(0)
	if err != nil || moved.AWS == first.AWS || moved.APIServer != first.APIServer || moved.Webhook != first.Webhook {
		t.Fatalf("port of AWS taken: want that one alone chosen anew, got %+v after %+v, %v", moved, first, err)
	}
	hold(t, first.APIServer)
	if _, err := dir.places(0); err == nil {
		t.Fatal("port of the API server taken: want an error, got none")
	}
}
