package project

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/document"
)

const (
	// lifeStart and lifeRun are the default times for which an operation is pending and running.
	lifeStart = 500 * time.Millisecond
	lifeRun   = 2 * time.Second
	// pendingShare is the share of operations that start pending.
	pendingShare = 0.25
	// operationsKept is the time for which an ended operation can be read, requestsKept that for which a request ID is recognized.
	operationsKept = 2 * time.Hour
	requestsKept   = time.Hour
	// openWait is the interval at which an operation with an unknown end is checked.
	openWait = time.Second
)

// Operation is a long-running operation. Its status is a function of the clock.
type Operation struct {
	Name string
	ID   uint64
	// Type is the operationType, such as compute.instanceGroupManagers.insert or patch.
	Type    string
	Project string
	// Scope is global, zones/z or regions/r.
	Scope string
	// Target is the path of the resource that it is about, TargetID the resource's ID.
	Target   string
	TargetID uint64
	User     string
	// RequestID is the request ID that the client sent, "" for none.
	RequestID              string
	Inserted, Started, End time.Time
	// Failures are the reasons of the failure, Code the corresponding HTTP status.
	Failures []Failure
	Code     int
	// Open is true while the end of the operation is not known.
	Open bool
}

// Begun is the operation that a request started.
type Begun struct {
	Operation string
	Method    string
	At        time.Time
}

// Path returns the path of the operation.
func (o *Operation) Path() string {
	return "projects/" + o.Project + "/" + o.Scope + "/operations/" + o.Name
}

// Begin begins an operation that succeeds, and answers with it.
func (w *Core) Begin(x *Call, kind, target string, targetID uint64) (*Answer, error) {
	return OK(w.Start(x, kind, target, targetID).Show(x, w.Now)), nil
}

// BeginFailed begins an operation that fails, with the HTTP status that goes with it, and answers with it.
func (w *Core) BeginFailed(x *Call, kind, target string, targetID uint64, status int, failures []Failure) (*Answer, error) {
	o := w.Start(x, kind, target, targetID)
	o.Failures, o.Code = failures, status
	return OK(o.Show(x, w.Now)), nil
}

// Start begins an operation. Its scope is that of the request's path.
func (w *Core) Start(x *Call, kind, target string, targetID uint64) *Operation {
	o := &Operation{
		Type: kind, Project: x.Vars["project"], Scope: x.Scope(), Target: target, TargetID: targetID, User: x.User,
		RequestID: x.Query.Get("requestId"), Inserted: w.Now,
	}
	w.Put(o)
	if o.RequestID != "" {
		w.Requests.Put(requestKey(x), &Begun{Operation: o.Path(), Method: x.Request.Method + " " + x.Path, At: w.Now})
	}
	return o
}

// Put gives an operation its name, its ID and its times, and keeps it.
func (w *Core) Put(o *Operation) {
	o.ID = w.NewID()
	o.Name = fmt.Sprintf("operation-%d-%s-%s-%s", o.Inserted.UnixMilli(), w.Seed.Hex(13, "operation", o.ID), w.Seed.Hex(8, "a", o.ID),
		w.Seed.Hex(8, "b", o.ID))
	o.Started = o.Inserted
	if w.Seed.Chance("pending", o.ID) < pendingShare {
		o.Started = o.Inserted.Add(w.Life(lifeStart))
	}
	o.End = o.Started.Add(w.Life(lifeRun))
	w.Operations.Put(o.Path(), o)
}

// Scope returns the scope of the request's path: global, zones/z or regions/r.
func (x *Call) Scope() string {
	switch {
	case x.Vars["zone"] != "":
		return "zones/" + x.Vars["zone"]
	case x.Vars["region"] != "":
		return "regions/" + x.Vars["region"]
	}
	return "global"
}

// status returns the state of an operation, and how far it is in percent.
func (o *Operation) status(now time.Time) (status string, progress int) {
	switch {
	case now.Before(o.Started):
		return "PENDING", 0
	case o.Open || now.Before(o.End):
		return "RUNNING", 0
	}
	return "DONE", 100
}

// Finish ends an operation that was open.
func (w *Core) Finish(path string) {
	if o := w.Operations.Get(path); o != nil && o.Open {
		o.Open, o.End = false, w.Now
		w.Operations.Touch(path)
	}
}

// Show returns the operation as it goes over the wire.
func (o *Operation) Show(x *Call, now time.Time) document.Object {
	status, progress := o.status(now)
	d := document.Object{
		"kind": "compute#operation", "id": Digits(o.ID), "name": o.Name, "operationType": o.Type, "status": status, "progress": progress,
		"selfLink": x.Link(o.Path()), "targetLink": x.Link(o.Target), "targetId": Digits(o.TargetID), "user": o.User,
		"insertTime": Stamp(o.Inserted),
	}
	if kind, name, located := strings.Cut(o.Scope, "/"); located {
		d[strings.TrimSuffix(kind, "s")] = x.Link("projects/" + o.Project + "/" + kind + "/" + name)
	}
	if o.RequestID != "" {
		d["clientOperationId"] = o.RequestID
	}
	if status != "PENDING" {
		d["startTime"] = Stamp(o.Started)
	}
	if status == "DONE" {
		d["endTime"] = Stamp(o.End)
		o.showFailures(d)
	}
	return d
}

// showFailures adds why the operation failed.
func (o *Operation) showFailures(d document.Object) {
	if len(o.Failures) == 0 {
		return
	}
	list := []any{}
	for _, f := range o.Failures {
		list = append(list, f.Body())
	}
	d["error"] = document.Object{"errors": list}
	d["httpErrorStatusCode"], d["httpErrorMessage"] = o.Code, strings.ToUpper(http.StatusText(o.Code))
}

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// requestKey is the key of a request that has an ID.
func requestKey(x *Call) string { return x.Vars["project"] + "/" + x.Query.Get("requestId") }

// Repeated returns the answer to a request whose ID was seen within the last hour: the operation that it began then. It returns nil for
// others, and refuses IDs that are no UUIDs, or that another request had.
func (w *Core) Repeated(x *Call) (*Answer, error) {
	id := x.Query.Get("requestId")
	if id == "" {
		return nil, nil
	}
	if !uuidForm.MatchString(id) || strings.Trim(id, "0-") == "" {
		return nil, Invalid("requestId", id, "The value must be a UUID that is not zero.")
	}
	begun := w.Requests.Get(requestKey(x))
	if begun == nil || begun.At.Add(requestsKept).Before(w.Now) {
		return nil, nil
	}
	if o := w.Operations.Get(begun.Operation); o != nil && begun.Method == x.Request.Method+" "+x.Path {
		return OK(o.Show(x, w.Now)), nil
	}
	return nil, Refuse(http.StatusBadRequest, "invalid", "The request ID '%s' was already used by another request.", id)
}

// GetOperation answers operations.get of all scopes.
func (w *Core) GetOperation(x *Call) (*Answer, error) {
	o, err := w.operation(x)
	if err != nil {
		return nil, err
	}
	return OK(o.Show(x, w.Now)), nil
}

// WaitOperation answers operations.wait of all scopes: once the operation is done, at the latest after two minutes.
func (w *Core) WaitOperation(x *Call) (*Answer, error) {
	o, err := w.operation(x)
	if err != nil {
		return nil, err
	}
	answer := OK(o.Show(x, w.Now))
	switch {
	case o.Open:
		answer.Until = w.Now.Add(openWait)
	case o.End.After(w.Now):
		answer.Until = o.End
	}
	return answer, nil
}

func (w *Core) operation(x *Call) (*Operation, error) {
	path := "projects/" + x.Vars["project"] + "/" + x.Scope() + "/operations/" + x.Vars["operation"]
	if o := w.Operations.Get(path); o != nil {
		return o, nil
	}
	return nil, NotFound(path)
}

// Forget drops operations and request IDs that no client can ask for any more.
func (w *Core) Forget() {
	for key, o := range w.Operations.All() {
		if !o.Open && o.End.Add(operationsKept).Before(w.Now) {
			w.Operations.Delete(key)
		}
	}
	for key, b := range w.Requests.All() {
		if b.At.Add(requestsKept).Before(w.Now) {
			w.Requests.Delete(key)
		}
	}
}
