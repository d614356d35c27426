// Package tokens extends bootstrap tokens that machines may still be launched with although the pool's bootstrap data has changed: a
// provider rollout launches machines from the template version that it was started with, possibly for hours, while the token in the data is
// replaced every few minutes and the old one expires. It revokes the tokens of pools that are deleted.
package tokens
