package account

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/core"
)

// Core holds the state that the services of one account in one region share: the clock, the numbering and the memory of client
// tokens. Operations run one at a time.
type Core struct {
	*core.State
	Account, Region string
	// Strict rejects launches with an instance profile that does not exist.
	Strict bool
	// Catalogue holds the images and types that AWS and others publish in the region.
	Catalogue *catalogue.Catalogue
	// tokens holds the results of requests with a client token.
	tokens *core.Table[idempotent]
}

// NewCore returns the empty core of an account in a region.
func NewCore(e *core.Environment, account, region string) *Core {
	c := &Core{Account: account, Region: region, Catalogue: catalogue.Of(region)}
	c.State, c.tokens = core.NewState(e, c.Prefix()), core.NewTable[idempotent](c.Prefix()+"token/")
	return c
}

// Prefix begins the keys of all rows of the account in the region.
func (r *Core) Prefix() string { return r.Account + "/" + r.Region + "/" }

// Tables returns the tables of the core.
func (r *Core) Tables() core.Tables { return core.Tables{r.Sequences, r.tokens} }

// Number returns the next number of the region's one sequence.
func (r *Core) Number() int64 { return r.NextNumber("all") }

// NewID returns the next ID of a kind, such as i-0123456789abcdef0.
func (r *Core) NewID(prefix string) string {
	return prefix + "-0" + r.Seed.Hex(16, r.Account, r.Region, prefix, r.Number())
}

// Page returns the size of a page, lowered to what a fault allows; zero is everything at once.
func (r *Core) Page(size int) int {
	if r.PageLimit > 0 && (size <= 0 || size > r.PageLimit) {
		return r.PageLimit
	}
	return size
}

// ForgetTokens deletes expired client tokens.
func (r *Core) ForgetTokens() {
	for key, t := range r.tokens.All() {
		if r.Now.After(t.Expires) {
			r.tokens.Delete(key)
		}
	}
}

// Once creates something for a client token at most once: a second call with the same token and parameters returns the result of the
// first, one with other parameters is rejected.
func (r *Core) Once(action, token string, params any, create func() (string, error)) (string, error) {
	if token == "" {
		return create()
	}
	b, err := json.Marshal(params)
	if err != nil {
		return "", fmt.Errorf("encode parameters: %w", err)
	}
	sum := sim.Seed(0).Hex(32, string(b))
	key := action + "/" + token
	if t := r.tokens.Get(key); t != nil && r.Now.Before(t.Expires) {
		if t.Params != sum {
			return "", wire.Refuse("IdempotentParameterMismatch",
				"Arguments on this idempotent request are inconsistent with arguments used in previous request(s).")
		}
		return t.Result, nil
	}
	result, err := create()
	if err != nil {
		return "", err
	}
	r.tokens.Put(key, &idempotent{Params: sum, Result: result, Expires: r.Now.Add(tokenLife)})
	return result, nil
}

// tokenLife is the time for which a client token is remembered, as EC2 promises at least.
const tokenLife = 24 * time.Hour

// idempotent is the result of a request with a client token.
type idempotent struct {
	Params  string
	Result  string
	Expires time.Time
}
