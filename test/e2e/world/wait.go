package world

import (
	"fmt"
	"strconv"
	"time"
)

// Wait waits until a field of an object has a value.
func (w *World) Wait(object, path, value string) {
	w.T.Helper()
	w.Eventually(fmt.Sprintf("%s of %s to become %s", path, object, value), func() error {
		if got := w.Read(path, object); got != value {
			return fmt.Errorf("it is %q; the conditions are\n%s", got, w.Read(conditionsPath, object))
		}
		return nil
	})
}

// conditionsPath prints the conditions of an object.
const conditionsPath = `{range .status.conditions[*]}  {.type}={.status} {.reason}: {.message}{"\n"}{end}`

// Ready waits until a pool has that many ready machines and no other.
func (w *World) Ready(pool string, replicas int) {
	w.T.Helper()
	n := strconv.Itoa(replicas)
	w.Wait("machinepool/"+pool, "{.status.readyReplicas}", n)
	w.Wait("machinepool/"+pool, "{.status.replicas}", n)
	w.Wait("awsmachinepool/"+pool, `{.status.conditions[?(@.type=="Ready")].status}`, "True")
}

// Eventually retries until the condition is met.
func (w *World) Eventually(what string, try func() error) {
	w.T.Helper()
	limit := time.NewTimer(WaitLimit)
	defer limit.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-limit.C:
			w.T.Fatalf("want %s: %v", what, err)
		}
	}
}

// Conditions returns the conditions of both objects of an AWS pool, one a line, with their reasons and messages.
func (w *World) Conditions(pool string) string {
	w.T.Helper()
	const path = `{range .items[*]}{.kind}{range .status.conditions[*]}{"\n  "}{.type}={.status} {.reason}: {.message}{end}{"\n"}{end}`
	return w.Read(path, "machinepool/"+pool, "awsmachinepool/"+pool)
}
