package memapi

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Relisted returns what a process hears of events that came while its watch had expired: it lists the objects again, and compares them with
// those that it knew. What was between is lost, and so is an object that came and went.
func Relisted(events []Event) []Event {
	at := map[string]int{}
	var list []Event
	for _, e := range events {
		o := e.New
		if o == nil {
			o = e.Old
		}
		key := fmt.Sprintf("%T %s %s", o, o.GetObjectKind().GroupVersionKind(), client.ObjectKeyFromObject(o))
		k, seen := at[key]
		if !seen {
			at[key] = len(list)
			list = append(list, e)
			continue
		}
		list[k].New, list[k].Revision = e.New, e.Revision
	}
	heard := list[:0]
	for _, e := range list {
		if e.Old != nil || e.New != nil {
			heard = append(heard, e)
		}
	}
	return heard
}
