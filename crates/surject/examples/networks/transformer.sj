// From characters, each a row with one 1, to scores of the character that follows. No position sees a later one.
fn embed(character) = { characters = normal(), o = [64] } * character;
let positions = sinusoidal_positions()();
let blocks = decoder_only(2, 4, 16, 16, 256)();
let scores = dense(48)();
fn net(text) = scores(blocks(positions(embed(text))));
