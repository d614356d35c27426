package kapsule

import (
	"encoding/json"
	"fmt"

	"github.com/scaleway/scaleway-sdk-go/api/k8s/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
)

// desired is the pool that the specification asks for, compared with the one that exists.
type desired struct {
	// doc is the pool after the next step, is the one that exists.
	doc, is doc
	path    upgrade.Path
	// next and launched are the versions of new nodes after the next step and now.
	next, launched pool.Template
	// ahead is true if the pool has a newer version than the specification asks for, passed if the control plane has: the pool can't have
	// the wanted version.
	ahead, passed bool
	// drift are the fields that differ and that are changed in place, unchangeable those that can't be changed.
	drift        list
	unchangeable []string
}

// upgrades reports whether the next step leads to another version.
func (d desired) upgrades() bool { return d.launched.Content != "" && !d.next.Same(d.launched) }

// desire translates the specification.
func (r *reader) desire() (desired, error) {
	read := r.memory.read
	want := desired{doc: r.t.desired()}
	requested, valid := upgrade.Parse(r.t.KubernetesVersion)
	if r.t.KubernetesVersion != "" && !valid {
		want.compare(read)
		return want, cloud.Invalidf(fields.Version, "%q is no Kubernetes version of the form v1.36.3", r.t.KubernetesVersion)
	}
	want.doc[memberVersion] = fields.Text(want.step(read, requested))
	want.doc.keepSize(read.pool)
	want.compare(read)
	return want, nil
}

// keepSize leaves the maximum of an autoscaled pool at its size as long as that is above the wanted maximum: Kapsule would bring the size
// within the bounds, and delete nodes without a drain. The autoscaler lowers the size, and the maximum follows.
func (d doc) keepSize(is *k8s.Pool) {
	if most, named := d[memberMax].(int64); named && is != nil && int64(is.Size) > most {
		d[memberMax] = int64(is.Size)
		if is.Autoscaling {
			d[memberMax] = max(int64(is.Size), int64(is.MaxSize))
		}
	}
}

// step returns the version of the pool after the next step. Kapsule gives pools the version of their control plane and no other: a new pool
// has it, and an upgrade leads to it.
func (d *desired) step(read poolRead, requested upgrade.Version) string {
	current, controlPlane := read.version(), read.controlPlane()
	switch {
	case read.pool == nil && !controlPlane.Known():
		return requested.String()
	case read.pool == nil:
		return read.Doc.Version
	}
	d.ahead = requested.Known() && current.Known() && requested.Compare(current) < 0
	up := upgrade.Of(current, requested, controlPlane)
	d.path = up.Path
	if up.Next == current {
		return read.pool.Version
	}
	if controlPlane.Compare(requested) > 0 {
		d.passed = true
		return read.pool.Version
	}
	return read.Doc.Version
}

// compare fills in the differences from the pool that exists.
func (d *desired) compare(read poolRead) {
	d.next = templateOf(rows.Rolling(d.doc, d.doc))
	if read.pool == nil {
		return
	}
	d.is = docOf(read.pool)
	named := doc{memberVersion: d.is[memberVersion]}
	d.launched = templateOf(rows.Rolling(named, d.is))
	d.drift = rows.Differing(d.doc, d.is, fields.InPlace)
	d.unchangeable = rows.Differing(d.doc, d.is, fields.Fixed).Specs()
}

// templateFor returns the version of a node; unknown for one from before an upgrade that runs.
func (d *desired) templateFor(read poolRead, n node) pool.Template {
	if read.old(n) {
		return pool.Template{}
	}
	return d.launched
}

const (
	// algorithm and contentLength are those of contents. A new algorithm is added to this one and never replaces it.
	algorithm     = "v1"
	contentLength = 16
	refPrefix     = "kapsule:"
)

// templateOf returns what replaces nodes as a template, which Kapsule makes of the fields of the pool.
func templateOf(values map[string]any) pool.Template {
	text, err := json.Marshal(values)
	if err != nil || len(values) == 0 {
		return pool.Template{} // texts can always be encoded
	}
	return pool.Template{Ref: refPrefix + fmt.Sprint(values[memberVersion]), Content: algorithm + ":" + cloud.Digest(text, contentLength),
		UserManaged: true, ByCloud: true}
}
