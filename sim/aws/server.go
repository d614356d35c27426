package aws

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/iam"
)

// Options say what a simulated AWS is made of; the zero value is a default account in memory.
type Options struct {
	// Dir is where the state is kept and found again; empty keeps it in memory alone.
	Dir string
	// Accounts that exist; none means DefaultAccount.
	Accounts []Account
	// MachineHost runs what is inside machines; nil leaves them empty.
	MachineHost sim.MachineHost
	// Speed is how much faster than life machines come and go; 0 means sim.DefaultSpeed.
	Speed float64
	// Seed is where IDs, jitter and chances come from.
	Seed uint64
	// Strict lets machines launch only with an instance profile that exists, and those of node groups join only with a role that may
	// do what nodes do.
	Strict bool
	// Limits are the throttling buckets; nil means DocumentedLimits, an empty one no throttling.
	Limits Limits
}

// Server is a simulated AWS. It is an http.Handler for all its services and regions at once.
type Server struct {
	accounts accounts
	host     sim.MachineHost
	seed     sim.Seed
	speed    sim.Speed
	calls    sim.Calls
	faults   *sim.Faults
	buckets  sim.Buckets
	admin    http.Handler
	alarm    *sim.Alarm

	console
	clusterConsole
	bucketConsole

	mu      sync.Mutex
	limits  Limits
	strict  bool
	store   *sim.Store
	regions map[string]*region
	// directories are what the accounts hold of IAM, policies what the keys of an account may do, where they may not do everything.
	directories map[string]*iam.Directory
	policies    map[string][]iam.Policy
	asked       Asked
	sessions    map[string]session // by access key
	unsaved     map[string]json.RawMessage
	closed      bool
}

// New makes a simulated AWS and powers on again what ran when the directory was last used.
func New(o Options) (*Server, error) {
	store, err := sim.OpenStore(o.Dir)
	if err != nil {
		return nil, err
	}
	if len(o.Accounts) == 0 {
		o.Accounts = []Account{DefaultAccount()}
	}
	s := &Server{
		accounts: accounts{}, host: o.MachineHost, seed: sim.Seed(o.Seed), faults: sim.NewFaults(sim.Seed(o.Seed)),
		limits: DocumentedLimits(), store: store, regions: map[string]*region{}, sessions: map[string]session{}, strict: o.Strict,
		directories: map[string]*iam.Directory{}, policies: map[string][]iam.Policy{},
	}
	if o.Limits != nil {
		s.limits = o.Limits
	}
	if err := s.admit(o.Accounts); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	s.console, s.clusterConsole, s.bucketConsole = console{s}, clusterConsole{s}, bucketConsole{s}
	s.speed.Set(o.Speed)
	s.admin = s.adminHandler()
	s.alarm = sim.NewAlarm(s.ring)
	if err := s.restore(); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return s, nil
}

// admit lets accounts in.
func (s *Server) admit(accounts []Account) error {
	for _, a := range accounts {
		s.accounts[a.AccessKeyID] = a
		if a.Policy == nil {
			continue
		}
		p, err := iam.ParsePolicy(a.Policy)
		if err != nil {
			return fmt.Errorf("the policy of account %s: %w", a.ID, err)
		}
		s.policies[a.ID] = []iam.Policy{p}
	}
	return nil
}

// restore opens the regions that the store knows and powers on the machines that ran.
func (s *Server) restore() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]bool{}
	for key := range s.store.Docs() {
		parts := strings.SplitN(key, "/", 3)
		if len(parts) == 3 && parts[1] != iam.Folder {
			seen[parts[0]+"/"+parts[1]] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		id, name, _ := strings.Cut(key, "/")
		r, err := s.region(id, name)
		if err != nil {
			return err
		}
		r.EC2.Templates.ForgetUserData()
		r.ForgetTokens()
		// Before time passes, so that a service that looks at nodes and drains them finds the machines.
		r.EC2.Instances.Resume()
	}
	return s.settle(time.Now(), false)
}

// Close stops time. Requests are refused afterwards; machines go on until their MachineHost is closed.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.alarm.Close()
	return s.store.Close()
}

// region is what the account has in the region, made with its network when it is asked for the first time. s.mu is held.
func (s *Server) region(id, name string) (*region, error) {
	key := id + "/" + name
	if r, ok := s.regions[key]; ok {
		return r, nil
	}
	d, err := s.directoryOf(id)
	if err != nil {
		return nil, err
	}
	r := newRegion(s, id, name, d)
	if err := r.load(s.store.Docs()); err != nil {
		return nil, err
	}
	r.Now, r.changed = time.Now(), true
	if r.EC2.Network.VPCs.Len() == 0 {
		r.seed(s.accounts.networkOf(id, name))
	}
	s.regions[key] = r
	return r, nil
}

// directoryOf is what the account holds of IAM, made with the roles that it has from the start when it is asked for the first
// time. s.mu is held.
func (s *Server) directoryOf(account string) (*iam.Directory, error) {
	if d, ok := s.directories[account]; ok {
		return d, nil
	}
	d := iam.NewDirectory(s.seed, account)
	if err := d.Tables().Load(s.store.Docs()); err != nil {
		return nil, err
	}
	if d.Sequence.Len() == 0 {
		seedRoles(d, s.accounts.withID(account).Roles, epoch)
	}
	s.directories[account] = d
	return d, nil
}

// epoch is when what exists from the start was made.
var epoch = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)

// ring lets pass what is due.
func (s *Server) ring() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	// A failed write is tried again with the next request, whose caller is told.
	_ = s.settle(time.Now(), false)
}

// settle brings every region to the present, writes what has changed, powers machines, and sets the alarm. s.mu is held.
func (s *Server) settle(now time.Time, call bool) error {
	var next time.Time
	for _, key := range slices.Sorted(maps.Keys(s.regions)) {
		r := s.regions[key]
		if r.changed || account.Due(r.due, now) {
			r.changed = false
			r.due = r.tick(now)
		}
		next = account.Earliest(next, r.due)
	}
	if floor := now.Add(tickFloor); !next.IsZero() && next.Before(floor) {
		next = floor
	}
	s.alarm.Set(next)
	return s.commit(now, call)
}

// tickFloor is the shortest time from one tick to the next, so that no speed makes the simulator spin.
const tickFloor = time.Millisecond

// commit writes what has changed and then powers machines on and off: in this order, so that a machine never runs that no state
// knows of. s.mu is held.
func (s *Server) commit(now time.Time, call bool) error {
	if s.unsaved == nil {
		s.unsaved = map[string]json.RawMessage{}
	}
	for _, r := range s.regions {
		if err := r.flush(s.unsaved); err != nil {
			return err
		}
	}
	for _, d := range s.directories {
		if err := d.Tables().Flush(s.unsaved); err != nil {
			return err
		}
	}
	if err := s.store.Commit(now, call, s.unsaved); err != nil {
		return err
	}
	s.unsaved = nil
	for _, key := range slices.Sorted(maps.Keys(s.regions)) {
		s.regions[key].EC2.Instances.Power()
	}
	return nil
}

// asOf is the region as it was: for reads that are stale. It must not be written to.
func (s *Server) asOf(r *region, at time.Time, calls int) (*region, error) {
	d := iam.NewDirectory(s.seed, r.Account)
	old := newRegion(s, r.Account, r.Region, d)
	docs := s.store.DocsBefore(at, calls)
	if err := errors.Join(old.load(docs), d.Tables().Load(docs)); err != nil {
		return nil, fmt.Errorf("load an older state: %w", err)
	}
	old.Now = r.Now
	return old, nil
}

// environment is what all accounts share.
func (s *Server) environment() *account.Environment {
	return &account.Environment{Seed: s.seed, Speed: &s.speed, Faults: s.faults, Host: s.host, Strict: s.strict}
}
