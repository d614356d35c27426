// Package install puts into a management cluster what has to be there before the first object: the definitions of all
// kinds, with the way to their conversion webhook, and the admission webhooks.
package install
