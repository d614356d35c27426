package extra

import (
	"time"

	"github.com/muster-project/muster/test/explore/apifault"
	"github.com/muster-project/muster/test/explore/script"
)

// One in serversOneIn scenarios has API server faults that last.
const serversOneIn = 4

// rights lists the permissions that a manager can lack for a while, on the workload cluster and on the management cluster.
var rights = []apifault.Fault{
	{On: "Machine", Verb: "create"}, {On: "Machine", Verb: "delete"}, {On: "Machine", Verb: "patch"}, {On: "Machine", Verb: "list"},
	{On: "MachinePool", Verb: "patch"}, {On: "Secret", Verb: "get"}, {On: "Node", Verb: "patch", Workload: true},
	{On: "Node", Verb: "delete", Workload: true}, {On: "Node", Verb: "list", Workload: true}, {On: "Node", Verb: "get", Workload: true},
	{On: "Pod", Verb: "list", Workload: true}, {On: "Secret", Verb: "patch", Workload: true}, {On: "Secret", Verb: "list", Workload: true},
	{On: "VolumeAttachment", Verb: "list", Workload: true}, {On: "PersistentVolume", Verb: "get", Workload: true},
}

// pruned are fields of statuses that an older definition may not know.
var pruned = []string{"conditions", "readyReplicas", "initialization", "ready", "state", "replicas"}

// servers draws what API servers do to the manager for a while: rights that it lacks, statuses that are refused or pruned, a conflict with
// the first write to each object, and watches that expire.
func (d drawing) servers() {
	for range 1 + d.IntN(2) {
		at := d.Near(2, 20*time.Second)
		e := script.Event{What: script.ServerFault, At: at}
		switch d.IntN(8) {
		case 0, 1:
			e.API = rights[d.IntN(len(rights))]
			e.API.Kind = apifault.Denied
		case 2:
			e.API = apifault.Fault{Kind: apifault.Invalid}
		case 3:
			e.API = apifault.Fault{Kind: apifault.Pruned, Field: pruned[d.IntN(len(pruned))]}
		case 4, 5:
			e.API = apifault.Fault{Kind: apifault.EachConflict, Workload: d.IntN(3) == 0}
		default:
			d.Scenario.Add(script.Event{What: script.Expire, At: at, N: d.IntN(9)})
			continue
		}
		d.Scenario.Add(e)
		d.Scenario.Add(script.Event{What: script.ServersCalm, At: d.Later(e, 30, 300)})
	}
}
