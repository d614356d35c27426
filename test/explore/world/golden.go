package world

import "time"

// Edited is when what a golden scenario is about happens: the pool has come to rest by then. Its creation happens at once.
const Edited = 10 * time.Minute

// Golden are the scenarios in which the manager is ended at every effect, one run an effect: what it was about must be
// there in the end, whenever it died.
func Golden() []Scenario {
	at := func(name string, external bool, events ...Event) Scenario {
		s := Scenario{
			Name: name, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2, Speed: 5, External: external,
			Events: events, Ends: Edited + after,
		}
		for k := range s.Events {
			s.Events[k].At += Edited
		}
		return s
	}
	return []Scenario{
		at("create", false),
		at("scale out", false, Event{What: Replicas, N: 6}),
		at("scale in", false, Event{What: Replicas, N: 1}),
		at("scale in, a node is marked", false, Event{What: Mark, N: 1}, Event{What: Replicas, N: 2}),
		at("scale in and out again", false, Event{What: Replicas, N: 1}, Event{What: Replicas, N: 4, At: 4 * time.Second}),
		at("template change", false, Event{What: Template, N: 3}),
		at("token rotation", false, Event{What: Token}),
		at("group change", false, Event{What: GroupEdit, N: 4, M: 2}, Event{What: GroupEdit, N: 7, M: 3}),
		at("bounds change", false, Event{What: Bounds, N: 3, M: 4}),
		at("deletion", false, Event{What: Delete}),
		at("deletion with a budget in the way", false, Event{What: Block, N: 1}, Event{What: Delete, At: time.Second}),
		at("external: creation", true),
		at("external: the autoscaler grows the group", true, Event{What: Autoscaler, N: 5}),
		at("external: the autoscaler shrinks the group", true, Event{What: Autoscaler, N: 2}),
		at("external: template change", true, Event{What: Template, N: 3}),
		at("external begins", false, Event{What: External}, Event{What: Autoscaler, N: 5, At: time.Minute}),
		at("external ends", true, Event{What: Autoscaler, N: 5}, Event{What: External, At: time.Minute}, Event{What: Replicas, N: 2, At: 2 * time.Minute}),
		at("external: deletion", true, Event{What: Delete}),
		at("group deleted by hand", false, Event{What: HandDropGroup}),
		at("template deleted by hand", false, Event{What: HandDropTemplate}),
	}
}

// Counted is from when on the effects of a golden scenario count.
func (s Scenario) Counted() time.Duration {
	if len(s.Events) == 0 {
		return 0
	}
	return Edited
}
