package session

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// FieldMachineType is the field of both specifications that names the type of machines.
const FieldMachineType = "spec.machineType"

// Capacity looks up what machines offer.
type Capacity struct {
	Session *Session
	// Exists is true if the group does: it is observed without what its machines offer. One is created without the permission to look it up.
	Exists    bool
	Tolerance *driverkit.Tolerance
}

type machineType struct {
	CPUs, MemoryMiB, Pods int
	Architecture          string
}

// Observe adds to an observation what a machine of a type offers.
func (r Capacity) Observe(ctx context.Context, look *cache.Resolver, name string, out *pool.Observed) error {
	out.ResolvedLookups = look.Remember
	is, err := r.machineType(ctx, look, name)
	if err == nil {
		out.Capacity = &pool.NodeCapacity{CPUs: is.CPUs, MemoryMiB: is.MemoryMiB, Pods: is.Pods, Architecture: is.Architecture,
			OperatingSystem: "linux"}
		return nil
	}
	look.Keep()
	if waits := !r.Exists && cloud.KindOf(err) != cloud.Denied; waits || cloud.KindOf(err) == cloud.Invalid {
		return err
	}
	if failed := r.Tolerance.Tolerate(look.Now, err); failed != nil {
		return failed
	}
	out.Issues = append(out.Issues, driverkit.CauseOf(err))
	return nil
}

// machineType looks up a machine type, once for each that a specification names.
func (r Capacity) machineType(ctx context.Context, look *cache.Resolver, name string) (is machineType, err error) {
	text, err := look.Resolve(ctx, cache.Question{
		Kind: "machine-type", Inputs: name, Good: func(answer string) bool { return json.Valid([]byte(answer)) },
		Ask: func(ctx context.Context) (string, error) {
			var reply json.RawMessage
			_, err := r.Session.Do(ctx, Request{Operation: "GetMachineType", Method: http.MethodGet,
				Path: "/v1/machine-types/" + url.PathEscape(name)}, &reply)
			return string(reply), cloud.InField(err, FieldMachineType)
		},
	})
	if err != nil {
		return is, err
	}
	return is, json.Unmarshal([]byte(text), &is)
}
