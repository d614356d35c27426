package oracle

import "fmt"

// Left finds what an object left in the cloud: anything with its owner ID once it is gone, except what a group that is
// not the pool's any more holds or launches from: another owner took that over.
func Left(c Cloud, owner string) []string {
	var wrong []string
	foreign, used := map[string]bool{}, map[string]bool{}
	for _, g := range c.Groups {
		foreign[g.Name] = g.Owner != owner
		if foreign[g.Name] {
			used[g.Template] = true
		} else {
			wrong = append(wrong, fmt.Sprintf("the object is gone and its group %s is still there", g.Name))
		}
	}
	for _, t := range c.Templates {
		if t.Owner == owner && !used[t.ID] {
			wrong = append(wrong, fmt.Sprintf("the object is gone and its launch template %s is still there", t.Name))
		}
	}
	for _, i := range c.Instances {
		if i.Owner == owner && !i.Leaving && !foreign[i.Group] {
			wrong = append(wrong, fmt.Sprintf("the object is gone and its instance %s still runs", i.ID))
		}
	}
	for _, r := range c.Roles {
		if r.Owner == owner {
			wrong = append(wrong, fmt.Sprintf("the object is gone and its role %s is still there", r.Name))
		}
	}
	return wrong
}
