package oracle

import "fmt"

// Readiness is the condition Ready of one object, with an empty status if it is missing.
type Readiness struct {
	Object, Status, Reason, Message string
}

// Rotation returns the objects that a rotation of the bootstrap token alone has made not Ready.
func Rotation(after []Readiness) []string {
	var found []string
	for _, r := range after {
		if r.Status != "True" && r.Status != "" {
			found = append(found, fmt.Sprintf("the token was rotated and Ready of the %s became %s (%s: %s)", r.Object, r.Status, r.Reason,
				r.Message))
		}
	}
	return found
}
