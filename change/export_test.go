package change

// Prove is prove, for tests of plans that no function of the package makes.
var Prove = prove
