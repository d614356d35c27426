package oracle

// Forced finds updates of the cloud's own that lose pods which can't be evicted, although the object does not ask for that.
func Forced(w Write) []string {
	if !w.Forces || w.Desired.Force {
		return nil
	}
	return []string{w.Call + " forces an update past the budgets of pods, which the object does not ask for"}
}
