// From characters, each a row with one 1, to scores of the character that follows. No position sees a later one; how far
// apart two of them are is told by the angle between their queries and keys.
fn embed(character) = { characters = normal(), o = [64] } * character;
let blocks = decoder_only(2, 4, 16, 16, 256, rotate: rope()())();
let scores = dense(48)();
fn net(text) = scores(blocks(embed(text)));
