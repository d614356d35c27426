package world

import "time"

// autoscaled is a size of an Auto Scaling group that the autoscaler has changed to another.
type autoscaled struct {
	until time.Time
	size  int
}

// autoscaledLately are the sizes that the autoscaler has changed within the window.
func (a *account) autoscaledLately(window time.Duration) []int {
	var sizes []int
	for _, s := range a.autoscaled {
		if time.Since(s.until) < window {
			sizes = append(sizes, s.size)
		}
	}
	return sizes
}
