package aws

import (
	"fmt"

	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/iam"
)

// console is what a user does to the default account at home in the console of EC2 and IAM.
type console struct{ server *Server }

// Terminate ends an instance of the default account as a user does in the console.
func (s *console) Terminate(id string) error {
	return s.onInstance(id, func(r *region, i *ec2.Instance) { r.EC2.Instances.Stop(i, ec2.ByUserCode, ec2.ByUser) })
}

// Fail ends an instance as failing hardware would.
func (s *console) Fail(id string) error {
	return s.onInstance(id, func(r *region, i *ec2.Instance) { r.EC2.Instances.Stop(i, ec2.ByFaultCode, ec2.ByFault) })
}

// Impair lets an instance fail its status checks from now on.
func (s *console) Impair(id string) error {
	return s.onInstance(id, func(r *region, i *ec2.Instance) { i.ImpairedAt = r.Now })
}

// Interrupt takes a spot instance away after its notice of two minutes, which pass as in life, with a recommendation to replace it at the
// latest now; one that is on demand is refused.
func (s *console) Interrupt(id string) error {
	return s.onSpot(id, func(r *region, i *ec2.Instance) {
		if i.RecommendedAt.IsZero() {
			i.RecommendedAt = r.Now
		}
		i.ReclaimAt = r.Now
	})
}

// Recommend tells that a spot instance is at a higher risk than others; one that is on demand is refused.
func (s *console) Recommend(id string) error {
	return s.onSpot(id, func(r *region, i *ec2.Instance) { i.RecommendedAt = r.Now })
}

func (s *console) onSpot(id string, f func(*region, *ec2.Instance)) error {
	return s.server.home(func(r *region) error {
		i := r.EC2.Instances.Rows.Get(id)
		if i == nil || !i.Spot || !i.Alive() {
			return fmt.Errorf("instance %s is not a living spot instance", id)
		}
		f(r, i)
		r.EC2.Instances.Rows.Touch(id)
		return nil
	})
}

func (s *console) onInstance(id string, f func(*region, *ec2.Instance)) error {
	return s.server.home(func(r *region) error {
		i := r.EC2.Instances.Rows.Get(id)
		if i == nil || !i.Alive() {
			return fmt.Errorf("instance %s does not exist or has ended", id)
		}
		f(r, i)
		r.EC2.Instances.Rows.Touch(id)
		return nil
	})
}

// DropTemplate deletes a launch template of the default account while groups still use it.
func (s *console) DropTemplate(name string) error {
	return s.server.home(func(r *region) error {
		t := r.EC2.Templates.TemplateNamed(name)
		if t == nil {
			return fmt.Errorf("launch template %s does not exist", name)
		}
		for key := range r.EC2.Templates.Versions.Under(t.ID + "/") {
			r.EC2.Templates.Versions.Delete(key)
		}
		r.EC2.Templates.Rows.Delete(t.ID)
		return nil
	})
}

// AddImage publishes an image to the default account's region.
func (s *console) AddImage(i catalogue.Image) error {
	return s.server.home(func(r *region) error {
		r.EC2.Images.Rows.Put(i.ID, &i)
		return nil
	})
}

// AddKeyPair adds a key pair to the default account.
func (s *console) AddKeyPair(name string) error {
	return s.server.home(func(r *region) error {
		r.EC2.Network.KeyPairs.Put(name, &ec2.KeyPair{ID: r.NewID("key"), Name: name, Created: r.Now, Fingerprint: ec2.Fingerprint(name)})
		return nil
	})
}

// DropRole deletes a role of the default account with all that hangs on it, as the console does
// without asking.
func (s *console) DropRole(name string) error {
	return s.server.home(func(r *region) error {
		found, err := r.IAM.Directory.FindRole(&name)
		if err != nil {
			return err
		}
		for key, p := range r.IAM.Directory.Profiles.All() {
			if iam.RoleKey(p.Role) == iam.RoleKey(found.Name) {
				p.Role = ""
				r.IAM.Directory.Profiles.Touch(key)
			}
		}
		r.IAM.Directory.Roles.Delete(iam.RoleKey(found.Name))
		return nil
	})
}
