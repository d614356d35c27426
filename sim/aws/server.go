package aws

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/eks"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/core"
)

// Options say what a simulated AWS is made of; the zero value is a default account in memory.
type Options struct {
	// Dir is where the state is kept and found again; empty keeps it in memory alone.
	Dir string
	// Accounts that exist; none means DefaultAccount.
	Accounts []Account
	// MachineHost runs what is inside machines; nil leaves them empty.
	MachineHost sim.MachineHost
	// Speed is the factor by which machines come and go faster than in the cloud; 0 means sim.DefaultSpeed.
	Speed float64
	// Seed is where IDs, jitter and chances come from.
	Seed uint64
	// Strict lets machines launch only with an instance profile that exists, and those of node groups join only with a role that may
	// do what nodes do.
	Strict bool
	// Limits are the throttling buckets; nil means DocumentedLimits, an empty one no throttling.
	Limits Limits
	// Switches are those of docs/evidence.md that are on.
	Switches sim.Switches
}

// Server is a simulated AWS. It is an http.Handler for all its services and regions at once.
type Server struct {
	*core.Cloud[*region]
	*core.Limits[core.Rate]
	accounts accounts
	buckets  core.Buckets

	console
	clusterConsole
	bucketConsole

	strict bool
	// directories are what the accounts hold of IAM, policies what the keys of an account may do, where they may not do everything.
	directories map[string]*iam.Directory
	policies    map[string][]iam.Policy
	asked       Asked
	sessions    map[string]session // by access key
}

// New makes a simulated AWS and powers on again what ran when the directory was last used.
func New(o Options) (*Server, error) {
	base, err := core.Open(core.Options{Dir: o.Dir, MachineHost: o.MachineHost, Speed: o.Speed, Seed: o.Seed, BodyLimit: bodyLimit,
		Known: known(), Switches: o.Switches, Beliefs: slices.Concat(core.Beliefs(), autoscaling.Beliefs(), eks.Beliefs())})
	if err != nil {
		return nil, err
	}
	if len(o.Accounts) == 0 {
		o.Accounts = []Account{DefaultAccount()}
	}
	if o.Limits == nil {
		o.Limits = DocumentedLimits()
	}
	s := &Server{
		Limits: core.NewLimits(o.Limits), accounts: accounts{}, sessions: map[string]session{}, strict: o.Strict,
		directories: map[string]*iam.Directory{}, policies: map[string][]iam.Policy{},
	}
	s.Cloud = core.NewCloud(base, s.load, s.seed)
	if err := s.admit(o.Accounts); err != nil {
		return nil, errors.Join(err, base.Store.Close())
	}
	s.console, s.clusterConsole, s.bucketConsole = console{s}, clusterConsole{s}, bucketConsole{s}
	s.Admin = s.adminHandler()
	return s, s.Run(s.stored()...)
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

// stored returns the regions that the store has something of.
func (s *Server) stored() []string {
	seen := map[string]bool{}
	for key := range s.Store.Docs() {
		parts := strings.SplitN(key, "/", 3)
		if len(parts) == 3 && parts[1] != iam.Folder {
			seen[inRegion(parts[0], parts[1])] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// inRegion names what an account has in a region.
func inRegion(account, region string) string { return account + "/" + region }

// load returns what an account has in a region by the rows of its tables.
func (s *Server) load(name string, docs core.Docs, earlier bool) (*region, error) {
	account, place, _ := strings.Cut(name, "/")
	var d *iam.Directory
	var err error
	if earlier {
		d = iam.NewDirectory(s.Environment.Seed, account)
		err = d.Tables().Load(docs)
	} else {
		d, err = s.directoryOf(account)
	}
	r := newRegion(s, account, place, d)
	return r, errors.Join(err, r.tables().Load(docs))
}

// seed makes the network of a region that is new, and powers on the machines that ran.
func (s *Server) seed(_ string, r *region) {
	if r.EC2.Network.VPCs.Len() == 0 {
		r.seed(s.accounts.networkOf(r.Account, r.Region))
	}
	r.EC2.Templates.ForgetUserData()
	r.ForgetTokens()
	r.EC2.Instances.Rows.Resume()
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
