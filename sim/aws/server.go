package aws

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/server"
	"github.com/muster-project/muster/sim/state"
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
	*server.Base
	accounts accounts
	buckets  sim.Buckets

	console
	clusterConsole
	bucketConsole

	limits  Limits
	strict  bool
	regions map[string]*region
	// directories are what the accounts hold of IAM, policies what the keys of an account may do, where they may not do everything.
	directories map[string]*iam.Directory
	policies    map[string][]iam.Policy
	asked       Asked
	sessions    map[string]session // by access key
}

// New makes a simulated AWS and powers on again what ran when the directory was last used.
func New(o Options) (*Server, error) {
	base, err := server.Open(server.Options{Dir: o.Dir, MachineHost: o.MachineHost, Speed: o.Speed, Seed: o.Seed, BodyLimit: bodyLimit})
	if err != nil {
		return nil, err
	}
	if len(o.Accounts) == 0 {
		o.Accounts = []Account{DefaultAccount()}
	}
	s := &Server{
		Base: base, accounts: accounts{}, limits: DocumentedLimits(), regions: map[string]*region{}, sessions: map[string]session{},
		strict:      o.Strict,
		directories: map[string]*iam.Directory{}, policies: map[string][]iam.Policy{},
	}
	if o.Limits != nil {
		s.limits = o.Limits
	}
	if err := s.admit(o.Accounts); err != nil {
		return nil, errors.Join(err, base.Store.Close())
	}
	s.console, s.clusterConsole, s.bucketConsole = console{s}, clusterConsole{s}, bucketConsole{s}
	s.Admin = s.adminHandler()
	if err := s.restore(); err != nil {
		return nil, errors.Join(err, base.Store.Close())
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
	s.Mu.Lock()
	defer s.Mu.Unlock()
	seen := map[string]bool{}
	for key := range s.Store.Docs() {
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
	return server.Run(s.Base, (*content)(s), time.Now())
}

// region is what the account has in the region, made with its network when it is asked for the first time. s.Mu is held.
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
	if err := r.load(s.Store.Docs()); err != nil {
		return nil, err
	}
	r.Now = time.Now()
	r.Touch()
	if r.EC2.Network.VPCs.Len() == 0 {
		r.seed(s.accounts.networkOf(id, name))
	}
	s.regions[key] = r
	return r, nil
}

// directoryOf is what the account holds of IAM, made with the roles that it has from the start when it is asked for the first
// time. s.Mu is held.
func (s *Server) directoryOf(account string) (*iam.Directory, error) {
	if d, ok := s.directories[account]; ok {
		return d, nil
	}
	d := iam.NewDirectory(s.Environment.Seed, account)
	if err := d.Tables().Load(s.Store.Docs()); err != nil {
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

// content is what all accounts hold, as the frame sees it.
type content Server

// Tick lets pass what is due by now in every region and returns when something is due next.
func (s *content) Tick(now time.Time) time.Time {
	var next time.Time
	for _, key := range slices.Sorted(maps.Keys(s.regions)) {
		r := s.regions[key]
		next = state.Earliest(next, r.Pass(now, r.tick))
	}
	return next
}

// Flush writes the rows that have changed.
func (s *content) Flush(changes map[string]json.RawMessage) error {
	for _, r := range s.regions {
		if err := r.flush(changes); err != nil {
			return err
		}
	}
	for _, d := range s.directories {
		if err := d.Tables().Flush(changes); err != nil {
			return err
		}
	}
	return nil
}

// Power powers machines on and off as they are wanted.
func (s *content) Power() {
	for _, key := range slices.Sorted(maps.Keys(s.regions)) {
		s.regions[key].EC2.Instances.Power()
	}
}

// asOf is the region as it was: for reads that are stale. It must not be written to.
func (s *Server) asOf(r *region, at time.Time, calls int) (*region, error) {
	d := iam.NewDirectory(s.Environment.Seed, r.Account)
	old := newRegion(s, r.Account, r.Region, d)
	docs := s.Store.DocsBefore(at, calls)
	if err := errors.Join(old.load(docs), d.Tables().Load(docs)); err != nil {
		return nil, fmt.Errorf("load an older state: %w", err)
	}
	old.Now = r.Now
	return old, nil
}
