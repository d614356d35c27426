package workrequests

import (
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci/rest"
	"github.com/muster-project/muster/sim/oci/shapes"
)

// Name is the name of the service in calls and faults.
const Name = "workrequests"

const (
	atWorks = "/20160918/workRequests"
	atWork  = atWorks + "/{workRequestId}"
)

// Permissions of the operations. Those on one work request need the permissions of the operation that it is of: here that to create pools.
const (
	inspect = "WORKREQUEST_INSPECT"
	origin  = "INSTANCE_POOL_CREATE"
)

// Routes are the operations that are served.
var Routes = []rest.Route[*Service]{
	rest.Reads(Name, "ListWorkRequests", atWorks, list, inspect),
	rest.Reads(Name, "GetWorkRequest", atWork, onWork(get), origin),
	rest.Reads(Name, "ListWorkRequestErrors", atWork+"/errors", onWork(listErrors), origin),
	rest.Reads(Name, "ListWorkRequestLogs", atWork+"/logs", onWork(listLogs), origin),
}

// onWork finds the work request of a request.
func onWork(run func(*Service, *rest.Exchange, *Work) (rest.Reply, error)) func(*Service, *rest.Exchange) (rest.Reply, error) {
	return func(s *Service, x *rest.Exchange) (rest.Reply, error) {
		w := s.rows.Get(x.Vars["workRequestId"])
		if w == nil {
			return rest.Reply{}, rest.NotFound()
		}
		return run(s, x, w)
	}
}

// paths are the collections of resources by their kinds.
var paths = map[string]string{"instancePool": "instancePools", "instance": "instances"}

// show returns a work request, with more members than lists have.
func show(s *Service, w *Work) document.Object {
	out := document.Object{"id": w.ID, "compartmentId": w.Compartment, "operationType": w.Type, "status": string(w.Status),
		"timeAccepted": rest.Stamp(w.Accepted), "percentComplete": 0.0, "resourceId": w.Resource}
	action := "IN_PROGRESS"
	started := w.Accepted.Add(s.Life(lifeAccept))
	switch {
	case !w.Running():
		out["timeStarted"], out["timeFinished"], out["percentComplete"] = rest.Stamp(w.Accepted), rest.Stamp(w.Finished), 100.0
		action = "UPDATED"
	case s.Now.Before(started):
		out["status"] = "ACCEPTED"
	default:
		out["timeStarted"] = rest.Stamp(started)
	}
	resources := []any{resource(action, w.Kind, w.Resource)}
	for _, id := range w.Related {
		resources = append(resources, resource("RELATED", "instance", id))
	}
	out["resources"] = resources
	return out
}

func resource(action, kind, id string) document.Object {
	return document.Object{"actionType": action, "entityType": kind, "identifier": id, "entityUri": "/20160918/" + paths[kind] + "/" + id}
}

// page are the lists of this service, of which only some are sorted.
func page(typ string) rest.Listing {
	const size, most = 100, 1000
	return rest.Listing{Size: size, Most: most, Filters: map[string]string{"resourceId": "resourceId"}, Order: "TIMESTAMP",
		Orders: map[string]string{"TIMESTAMP": "timestamp"},
		Show:   func(d document.Object) document.Object { return rest.Only(shapes.WorkRequests().Types, typ, d) }}
}

// list answers with the work requests of a compartment, the newest first.
func list(s *Service, x *rest.Exchange) (rest.Reply, error) {
	var rows []*Work
	for _, w := range s.rows.All() {
		rows = append(rows, w)
	}
	slices.SortFunc(rows, func(a, b *Work) int { return int(b.Number - a.Number) })
	var all []document.Object
	for _, w := range rows {
		all = append(all, show(s, w))
	}
	return x.List(s.State, page("WorkRequestSummary"), all)
}

func get(s *Service, _ *rest.Exchange, w *Work) (rest.Reply, error) {
	return rest.Shown(rest.Only(shapes.WorkRequests().Types, "WorkRequest", show(s, w)), ""), nil
}

func listErrors(s *Service, x *rest.Exchange, w *Work) (rest.Reply, error) {
	var all []document.Object
	for _, e := range w.Errors {
		all = append(all, document.Object{"id": stampID(e.At, len(all)), "code": e.Code, "message": e.Message, "timestamp": rest.Stamp(e.At)})
	}
	return x.Page(s.State, page("WorkRequestError"), all)
}

func listLogs(s *Service, x *rest.Exchange, w *Work) (rest.Reply, error) {
	all := []document.Object{{"id": "0", "message": w.Type + " was accepted.", "timestamp": rest.Stamp(w.Accepted)}}
	for n, e := range w.Errors {
		all = append(all, document.Object{"id": stampID(e.At, n), "message": e.Message, "timestamp": rest.Stamp(e.At)})
	}
	if !w.Running() {
		all = append(all, document.Object{"id": "1", "message": w.Type + " ended: " + strings.ToLower(string(w.Status)) + ".",
			"timestamp": rest.Stamp(w.Finished)})
	}
	return x.Page(s.State, page("WorkRequestLogEntry"), all)
}

// stampID returns what names an entry among the others of its list.
func stampID(at time.Time, n int) string { return rest.Stamp(at) + "/" + string(rune('a'+n)) }
