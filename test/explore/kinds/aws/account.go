package aws

import (
	"context"
	"net/http"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/world"
)

// TagOwner is the tag that carries the owner ID, as the project promises it.
const TagOwner = "muster.dev/owner"

// Credentials are what the manager asks the cloud with, made when the account is: what world.Options take as Manager.
type Credentials func(*simaws.Server) (awssdk.CredentialsProvider, error)

// Account is the simulated account.
type Account struct {
	World  *world.World
	Server *simaws.Server
	// Groups, EC2, EKS and IAM are clients of people and other programs.
	Groups *autoscaling.Client
	EC2    *ec2.Client
	EKS    *eks.Client
	IAM    *iam.Client
	// manager is what the manager asks with.
	manager awssdk.CredentialsProvider
	// contents are what each version of a template makes, by "template:version".
	contents map[string]string
}

// New makes an account.
func New(w *world.World) *Account {
	server, err := simaws.New(simaws.Options{Seed: w.Scenario.Seed, Speed: w.Scenario.Speed, MachineHost: w.Workload})
	w.Must(err, "make the simulator")
	a := &Account{World: w, Server: server, contents: map[string]string{}}
	settings := config()
	a.manager = settings.Credentials
	if of, ok := w.Options.Manager.(Credentials); ok {
		a.manager, err = of(server)
		w.Must(err, "make the manager's credentials")
	}
	settings.HTTPClient = &http.Client{Transport: sim.Transport{Handler: server}}
	a.Groups, a.EC2 = autoscaling.NewFromConfig(settings), ec2.NewFromConfig(settings)
	a.EKS, a.IAM = eks.NewFromConfig(settings), iam.NewFromConfig(settings)
	return a
}

// Account is it as the world knows it.
func (a *Account) Account() world.Account {
	return world.Account{Cloud: a.Server, Snapshot: a.snapshot, Asked: asked}
}

func config() awssdk.Config {
	return awssdk.Config{
		Region:       simaws.Region,
		Credentials:  credentials.NewStaticCredentialsProvider(simaws.AccessKeyID, simaws.SecretAccessKey, ""),
		BaseEndpoint: awssdk.String("http://simulated.aws"),
		Retryer:      func() awssdk.Retryer { return awssdk.NopRetryer{} },
	}
}

// Settings are what drivers work with.
func (a *Account) Settings(context.Context, string) (awssdk.Config, error) {
	settings := config()
	settings.Credentials = a.manager
	return settings, nil
}

// State is what the simulator holds.
func (a *Account) State() simaws.State { return a.Server.State(simaws.AccountID, simaws.Region) }

// Find is the group of that name as it is, nil when there is none.
func (a *Account) Find(name string) *simaws.Group {
	groups := a.State().Groups
	if at := slices.IndexFunc(groups, func(g simaws.Group) bool { return g.Name == name && !g.Deleting }); at >= 0 {
		return &groups[at]
	}
	return nil
}
