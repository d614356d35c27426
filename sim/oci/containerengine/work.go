package containerengine

import (
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
	"github.com/muster-project/muster/sim/oci/rest"
)

// work is a work request: what clients see of an operation.
type work struct {
	// Operation is the ID of the operation, Resource the OCID of the pool or the cluster that it changes, Kind the type of that resource.
	Operation, Resource, Kind string
	Cluster, Compartment      string
	// Type is the type of the operation in the service's words.
	Type string
	// Number is that of the request among all.
	Number int64
	// Before is the specification of the pool before the request, nil for a request that can't be canceled.
	Before *managed.Spec
}

// entities are the types of resources in work requests, by what begins the types of operations on them.
var entities = map[string]string{"CLUSTER": "cluster", "NODEPOOL": "nodepool", "VIRTUALNODEPOOL": "VirtualNodePool"}

// workID returns the OCID of the work request of an operation.
func (s *Service) workID(op *managed.Operation) string { return s.OCID("clustersworkrequest", op.ID) }

// note keeps the work request of an operation.
func (s *Service) note(op *managed.Operation) {
	id := s.workID(op)
	if s.works.Get(id) != nil {
		return
	}
	w := &work{Operation: op.ID, Resource: op.Cluster, Kind: "CLUSTER", Cluster: op.Cluster, Number: s.NextNumber("work")}
	if c := s.Managed.Clusters.Get(op.Cluster); c != nil {
		w.Compartment = document.Text(c.Doc, "compartmentId")
	}
	if p := s.Managed.Pools.Get(op.Cluster + "/" + op.Pool); p != nil {
		w.Resource, w.Kind, w.Compartment = op.Pool, "NODEPOOL", document.Text(p.Doc, "compartmentId")
		if virtual(p) {
			w.Kind = "VIRTUALNODEPOOL"
		}
	}
	w.Type = w.Kind + "_" + doing(s, op)
	s.works.Put(id, w)
}

// doing returns what an operation does in the service's words.
func doing(s *Service, op *managed.Operation) string {
	switch {
	case op.Doing == managed.Creating:
		return "CREATE"
	case op.Doing == managed.Deleting:
		return "DELETE"
	case op.Doing == managed.Upgrading && op.Pool != "" && !s.Switches.On(CyclesInUpdates):
		return "CYCLING"
	}
	return "UPDATE"
}

// accepted answers with the work request of an operation. before is the former specification of the pool, nil if it can't be canceled.
func (s *Service) accepted(op *managed.Operation, before *managed.Spec) rest.Reply {
	s.note(op)
	s.works.Get(s.workID(op)).Before = before
	return rest.Reply{Status: http.StatusAccepted, Header: map[string]string{"Opc-Work-Request-Id": s.workID(op)}}
}

// Superseded reports whether a later work request than this one is about the same resource, or it is kept no more.
func (s *Service) Superseded(id string) bool {
	is := s.works.Get(id)
	if is == nil {
		return true
	}
	for _, other := range s.works.All() {
		if other.Resource == is.Resource && other.Number > is.Number {
			return true
		}
	}
	return false
}

// status returns the status of a work request, and what it does to its resource.
func (s *Service) status(op *managed.Operation) (status, action string) {
	did := map[managed.State]string{managed.Creating: "CREATED", managed.Deleting: "DELETED"}[op.Doing]
	if did == "" {
		did = "UPDATED"
	}
	switch {
	case op.Running() && s.Now.Before(op.Start.Add(s.Life(lifeAccept))):
		return "ACCEPTED", "IN_PROGRESS"
	case op.Running():
		return "IN_PROGRESS", "IN_PROGRESS"
	case op.Failure != nil:
		return "FAILED", "FAILED"
	case op.Aborted && !s.Switches.On(SupersededSucceed):
		return "CANCELED", "CANCELED_" + strings.TrimSuffix(did, "D")
	}
	return "SUCCEEDED", did
}

// showWork returns a work request as clients see it.
func showWork(s *Service, id string, w *work) document.Object {
	op := s.Managed.Operations.Get(w.Operation)
	status, action := s.status(op)
	out := document.Object{
		"id": id, "operationType": w.Type, "status": status, "compartmentId": w.Compartment, "timeAccepted": rest.Stamp(op.Start),
		"resources": []any{document.Object{"actionType": action, "entityType": entities[w.Kind], "identifier": w.Resource,
			"entityUri": "/20180222/" + paths[w.Kind] + "/" + w.Resource}},
		"resourceId": w.Resource, "clusterId": w.Cluster, "resourceType": w.Kind,
	}
	if status != "ACCEPTED" {
		out["timeStarted"] = rest.Stamp(op.Start.Add(s.Life(lifeAccept)))
	}
	if !op.Running() {
		out["timeFinished"] = rest.Stamp(op.End)
	}
	return out
}

var paths = map[string]string{"CLUSTER": "clusters", "NODEPOOL": "nodePools", "VIRTUALNODEPOOL": "virtualNodePools"}

// onWork finds the work request of a request.
func onWork(run func(*Service, *rest.Exchange, string, *work) (rest.Reply, error)) func(*Service, *rest.Exchange) (rest.Reply, error) {
	return func(s *Service, x *rest.Exchange) (rest.Reply, error) {
		id := x.Vars["workRequestId"]
		w := s.works.Get(id)
		if w == nil || s.Managed.Operations.Get(w.Operation) == nil {
			return rest.Reply{}, rest.NotFound()
		}
		return run(s, x, id, w)
	}
}

func getWorkRequest(s *Service, _ *rest.Exchange, id string, w *work) (rest.Reply, error) {
	return rest.Shown(rest.Only(types(), "WorkRequest", showWork(s, id, w)), rest.Etag(id, w.Number)), nil
}

func listWorkRequests(s *Service, x *rest.Exchange) (rest.Reply, error) {
	var all []document.Object
	for id, w := range s.works.All() {
		if s.Managed.Operations.Get(w.Operation) != nil {
			all = append(all, showWork(s, id, w))
		}
	}
	how := byName("WorkRequestSummary", "", map[string]string{"clusterId": "clusterId", "resourceId": "resourceId",
		"resourceType": "resourceType", "status": "status"})
	how.Order = "TIME_ACCEPTED"
	how.Descending = []string{"TIME_ACCEPTED", "TIME_STARTED", "TIME_FINISHED"}
	how.Orders = map[string]string{"ID": "id", "OPERATION_TYPE": "operationType", "STATUS": "status", "TIME_ACCEPTED": "timeAccepted",
		"TIME_STARTED": "timeStarted", "TIME_FINISHED": "timeFinished"}
	return x.List(s.State, how, all)
}

// ofCompartment refuses a request that names another compartment than that of the work request.
func ofCompartment(x *rest.Exchange, w *work) error {
	compartment, err := x.Compartment(x.Query.Get("compartmentId"))
	if err == nil && compartment != w.Compartment {
		return rest.NotFound()
	}
	return err
}

func listWorkRequestErrors(s *Service, x *rest.Exchange, _ string, w *work) (rest.Reply, error) {
	if err := ofCompartment(x, w); err != nil {
		return rest.Reply{}, err
	}
	out := []any{}
	if op := s.Managed.Operations.Get(w.Operation); op.Failure != nil {
		code, message, _ := worded(op.Failure)
		out = append(out, document.Object{"code": code, "message": message, "timestamp": rest.Stamp(op.End)})
	}
	return rest.Shown(out, ""), nil
}

func listWorkRequestLogs(s *Service, x *rest.Exchange, _ string, w *work) (rest.Reply, error) {
	if err := ofCompartment(x, w); err != nil {
		return rest.Reply{}, err
	}
	op := s.Managed.Operations.Get(w.Operation)
	out := []any{document.Object{"message": w.Type + " work request accepted.", "timestamp": rest.Stamp(op.Start)}}
	if status, _ := s.status(op); !op.Running() {
		out = append(out, document.Object{"message": w.Type + " work request ended: " + status + ".", "timestamp": rest.Stamp(op.End)})
	}
	return rest.Shown(out, ""), nil
}

// deleteWorkRequest cancels a work request that has not started.
func deleteWorkRequest(s *Service, x *rest.Exchange, id string, w *work) (rest.Reply, error) {
	if err := x.Match(rest.Etag(id, w.Number)); err != nil {
		return rest.Reply{}, err
	}
	op := s.Managed.Operations.Get(w.Operation)
	status, _ := s.status(op)
	p := s.Managed.Pools.Get(op.Cluster + "/" + op.Pool)
	if status != "ACCEPTED" || p == nil || w.Before == nil {
		return rest.Reply{}, rest.IncorrectState("Work request %s can't be canceled in the state %s.", id, status)
	}
	s.Managed.Cancel(p)
	s.Managed.EditPool(p, *w.Before)
	return rest.Reply{Status: http.StatusNoContent}, nil
}
