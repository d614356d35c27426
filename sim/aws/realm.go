package aws

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
)

// realm is what one account holds in one region. Its methods are the operations; they run one at a time.
type realm struct {
	server          *Server
	account, region string
	// now is the time of the operation that runs.
	now time.Time
	// pageLimit is how many items a page of the read that runs may hold; zero is no limit but the operation's own.
	pageLimit int
	// published is what AWS and others offer in the region.
	published *catalogue

	// directory is what the account holds of IAM.
	directory *directory

	sequence       *sim.Table[sequence]
	templates      *sim.Table[template]
	versions       *sim.Table[version]
	blobs          *sim.Table[blob]
	instances      *sim.Table[instance]
	groups         *sim.Table[group]
	members        *sim.Table[member]
	activities     *sim.Table[activity]
	refreshes      *sim.Table[refresh]
	tokens         *sim.Table[idempotent]
	images         *sim.Table[Image]
	vpcs           *sim.Table[vpc]
	subnets        *sim.Table[subnet]
	securityGroups *sim.Table[securityGroup]
	keyPairs       *sim.Table[keyPair]
	clusters       *sim.Table[cluster]
	nodegroups     *sim.Table[nodegroup]
	updates        *sim.Table[update]
	objects        *sim.Table[storedObject]

	// due is when something happens next by itself; changed is true if a request has changed something since the last tick.
	due     time.Time
	changed bool

	// powerOn and powerOff are what becomes of machines once the state is on disk.
	powerOn, powerOff []string
}

// stored is a table whatever its rows are.
type stored interface {
	Load(docs map[string]json.RawMessage) error
	Flush(changes map[string]json.RawMessage) error
}

func newRealm(s *Server, account, region string) *realm {
	p := account + "/" + region + "/"
	return &realm{
		server: s, account: account, region: region, published: catalogueOf(region),
		sequence:       sim.NewTable[sequence](p + "sequence/"),
		templates:      sim.NewTable[template](p + "template/"),
		versions:       sim.NewTable[version](p + "version/"),
		blobs:          sim.NewTable[blob](p + "blob/"),
		instances:      sim.NewTable[instance](p + "instance/"),
		groups:         sim.NewTable[group](p + "group/"),
		members:        sim.NewTable[member](p + "member/"),
		activities:     sim.NewTable[activity](p + "activity/"),
		refreshes:      sim.NewTable[refresh](p + "refresh/"),
		tokens:         sim.NewTable[idempotent](p + "token/"),
		images:         sim.NewTable[Image](p + "image/"),
		vpcs:           sim.NewTable[vpc](p + "vpc/"),
		subnets:        sim.NewTable[subnet](p + "subnet/"),
		securityGroups: sim.NewTable[securityGroup](p + "security-group/"),
		keyPairs:       sim.NewTable[keyPair](p + "key-pair/"),
		clusters:       sim.NewTable[cluster](p + "eks-cluster/"),
		nodegroups:     sim.NewTable[nodegroup](p + "eks-nodegroup/"),
		updates:        sim.NewTable[update](p + "eks-update/"),
		objects:        sim.NewTable[storedObject](p + "s3-object/"),
	}
}

func (r *realm) tables() []stored {
	return []stored{
		r.sequence, r.templates, r.versions, r.blobs, r.instances, r.groups, r.members, r.activities, r.refreshes, r.tokens,
		r.images, r.vpcs, r.subnets, r.securityGroups, r.keyPairs, r.clusters, r.nodegroups, r.updates, r.objects,
	}
}

func (r *realm) load(docs map[string]json.RawMessage) error {
	for _, t := range r.tables() {
		if err := t.Load(docs); err != nil {
			return err
		}
	}
	return nil
}

func (r *realm) flush(changes map[string]json.RawMessage) error {
	for _, t := range r.tables() {
		if err := t.Flush(changes); err != nil {
			return err
		}
	}
	return nil
}

// seed puts the network into a realm that is new.
func (r *realm) seed(n Network) {
	r.vpcs.Put(n.VPCID, &vpc{ID: n.VPCID, CIDR: n.CIDR, Tags: map[string]string{"Name": "muster"}})
	for _, s := range n.Subnets {
		kind := "private"
		if s.Public {
			kind = "public"
		}
		r.subnets.Put(s.ID, &subnet{ID: s.ID, VPC: n.VPCID, Zone: s.Zone, CIDR: s.CIDR, Public: s.Public, Tags: map[string]string{
			"Name": "muster-" + kind + "-" + s.Zone, "sigs.k8s.io/cluster-api-provider-aws/role": kind,
		}})
	}
	for id, name := range map[string]string{n.NodeSecurityGroupID: "node", n.ControlPlaneSecurityGroupID: "controlplane"} {
		r.securityGroups.Put(id, &securityGroup{
			ID: id, Name: "muster-" + name, Description: "Kubernetes " + name, VPC: n.VPCID,
			Tags: map[string]string{"sigs.k8s.io/cluster-api-provider-aws/role": name},
		})
	}
	r.keyPairs.Put(n.KeyName, &keyPair{
		ID: "key-0" + sim.Seed(0).Hex(16, r.account, r.region, n.KeyName), Name: n.KeyName, Created: r.now,
		Fingerprint: fingerprint(n.KeyName),
	})
}

func fingerprint(of string) string {
	h := sim.Seed(0).Hex(40, "fingerprint", of)
	var parts []string
	for i := 0; i < len(h); i += 2 {
		parts = append(parts, h[i:i+2])
	}
	return strings.Join(parts, ":")
}

// number is the next number of the realm's one sequence.
func (r *realm) number() int64 {
	s := r.sequence.Get("all")
	if s == nil {
		s = &sequence{}
		r.sequence.Put("all", s)
	}
	s.Last++
	r.sequence.Touch("all")
	return s.Last
}

// newID makes the next ID of a kind, such as i-0123456789abcdef0.
func (r *realm) newID(prefix string) string {
	return prefix + "-0" + r.server.seed.Hex(16, r.account, r.region, prefix, r.number())
}

// life is how long something takes here that takes so long in life.
func (r *realm) life(d time.Duration) time.Duration { return r.server.speed.Of(d) }

// keep stores user data once and returns where.
func (r *realm) keep(base64 string) string {
	if base64 == "" {
		return ""
	}
	key := sim.Seed(0).Hex(32, base64)
	if r.blobs.Get(key) == nil {
		r.blobs.Put(key, &blob{base64})
	}
	return key
}

func (r *realm) kept(key string) string {
	if b := r.blobs.Get(key); b != nil {
		return b.Base64
	}
	return ""
}

// forgetBlobs drops user data that nothing refers to any more.
func (r *realm) forgetBlobs() {
	used := map[string]bool{}
	for _, v := range r.versions.All() {
		used[v.Blob] = true
	}
	for _, i := range r.instances.All() {
		used[i.Blob] = true
	}
	for key := range r.blobs.All() {
		if !used[key] {
			r.blobs.Delete(key)
		}
	}
}

// forgetTokens drops client tokens whose time is over.
func (r *realm) forgetTokens() {
	for key, t := range r.tokens.All() {
		if r.now.After(t.Expires) {
			r.tokens.Delete(key)
		}
	}
}

// once makes something for a client token at most once: a second call with the same token and parameters gets the result of the
// first, one with other parameters is refused.
func (r *realm) once(action, token string, params any, create func() (string, error)) (string, error) {
	if token == "" {
		return create()
	}
	b, err := json.Marshal(params)
	if err != nil {
		return "", fmt.Errorf("encode parameters: %w", err)
	}
	sum := sim.Seed(0).Hex(32, string(b))
	key := action + "/" + token
	if t := r.tokens.Get(key); t != nil && r.now.Before(t.Expires) {
		if t.Params != sum {
			return "", refuse("IdempotentParameterMismatch", "Arguments on this idempotent request are inconsistent with arguments used in previous request(s).")
		}
		return t.Result, nil
	}
	result, err := create()
	if err != nil {
		return "", err
	}
	r.tokens.Put(key, &idempotent{Params: sum, Result: result, Expires: r.now.Add(tokenLife)})
	return result, nil
}

// tokenLife is how long a client token is remembered, as EC2 promises at least.
const tokenLife = 24 * time.Hour
