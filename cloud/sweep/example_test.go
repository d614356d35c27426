package sweep_test

import (
	"context"
	"fmt"
	"time"

	"github.com/muster-project/muster/cloud/sweep"
)

// Two pools read their groups through one sweep. A read that is young enough is answered without a call; a write makes what was read out
// of date.
func ExampleSweep() {
	sizes := map[string]int{"blue": 3, "green": 5} // what the cloud has
	now := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	calls := 0
	groups := sweep.New(sweep.Options[int]{
		Chunk: 50, // keys that one call may name
		Some: func(_ context.Context, keys []string, found func(string, int)) error {
			calls++
			for _, key := range keys {
				if size, exists := sizes[key]; exists {
					found(key, size)
				}
			}
			return nil
		},
		Now: func() time.Time { return now },
	})
	get := func(key string, maxAge time.Duration) {
		answer, err := groups.Get(context.Background(), key, maxAge)
		fmt.Printf("%s: found %t, size %d, error %v, calls %d\n", key, answer.Found, answer.Value, err, calls)
	}
	get("blue", 20*time.Second)
	now = now.Add(10 * time.Second)
	get("blue", 20*time.Second) // the first answer is young enough
	get("red", 20*time.Second)  // a key that the call leaves out does not exist

	groups.Touch("blue") // before and after the write
	sizes["blue"] = 4
	groups.Touch("blue")
	get("blue", 20*time.Second)

	// Output:
	// blue: found true, size 3, error <nil>, calls 1
	// blue: found true, size 3, error <nil>, calls 1
	// red: found false, size 0, error <nil>, calls 2
	// blue: found true, size 4, error <nil>, calls 3
}
