package oracle

import "fmt"

// Paused finds writes to the cloud by a manager that knows its pool, or the Cluster, as paused.
func Paused(call string, paused bool) []string {
	if !paused {
		return nil
	}
	return []string{fmt.Sprintf("%s was sent while the pool is paused", call)}
}
