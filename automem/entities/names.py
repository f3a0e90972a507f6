"""Common given names, lower-case, by which a capitalised word is read as a person.

Left out are those that are as often another word, a place or a product (Mark, Will, Grace, Paris,
Ruby, Julia, Claude, Hugo): for these the words around have to tell.
"""

from __future__ import annotations

_NAMES = """
aaron abby abdul abdullah abel abigail adam adele adrian adriana agnes ahmad ahmed aidan aiden aisha akira
alan alana albert alberto alejandra alejandro alena alessandra alessandro alex alexander alexandra alexandre
alexei alexis alfonso alfred ali alice alicia alina alison alistair allan allen allison alma alvaro alyssa
amanda amara amelia amina amir amit amy ana anastasia anders andre andrea andreas andrei andrew andrey andy
aneta angela angelica angelina angus anika anil anita anja anjali ankit ann anna annabelle anne annette
annie annika anthony antoine anton antonia antonio anya aoife arjun armando arnold arthur arturo arun asha
ashley astrid audrey augustus aurora ava axel ayesha barbara barry bart beatrice beatriz becky belinda ben
benedict benjamin benny bernadette bernard bernardo bert beth bethany betsy betty bianca bjorn bob bobby
bogdan boris brad bradley brandon brenda brendan brent brett brian brianna bridget britney brittany brooke
bruce bruno bryan bryce caitlin caleb calvin cameron camila camille candice caren carl carla carlo carlos
carmen carol carole carolina caroline carolyn carrie casey cassandra cassie catalina caterina catherine
cathy cecilia cedric celia cesar chad chandra chantal charlene charles charlie charlotte chen cheng cheryl
chiara chloe chris christa christian christina christine christoph christopher christy ciara cindy claire
clara clarence clarissa claudia claudio clement cliff clifford clyde cody colin colleen connie connor conor
constance corey corinne courtney craig cristian cristina curtis cynthia cyril daisuke damian damien dan dana
daniel daniela daniele danielle danny daphne darius darren daryl dave david deanna debbie deborah deepak
deirdre denis denise dennis derek desmond devin diana diane diego dieter dimitri dina dirk dmitri dmitry
dolores dominic dominik dominique donald donna doris dorothy doug douglas duncan dustin dylan eamon earl
eddie edgar edith edmund eduardo edward edwin eileen ekaterina elaine eleanor elena eleni eli eliana elias
elif elijah elisa elisabeth elise eliza elizabeth ella ellen ellie elliot elliott elsa elsie elvira emil
emilia emilie emilio emily emma emmanuel enrico enrique erica erich erik erika erin ernest ernesto esme
esteban esther ethan eugene eva evan eve evelyn ezra fabian fabio farah fatima federico felicia felicity
felipe felix fernanda fernando fiona florian frances francesca francesco francis francisco francois frank
franz fred freddie frederic frederick frederik frida friedrich gabriel gabriela gabriele gabriella gareth
gary gavin gemma geoff geoffrey george georgina gerald gerard gerda gertrude gianna gideon gilbert giles
gillian gina giorgio giovanni gisela giulia giuseppe gladys glen glenn gloria gordon graham greg gregor
gregory greta guido guillaume guillermo gunther gustav gustavo guy gwen hailey hana hanna hannah hans harold
harriet harry harvey hassan heather hector heidi heike heinrich helen helena helene helga henri henrik henry
herbert herman hilary hilda hiroshi holly hong howard hussein ian ibrahim ida ignacio igor ilona ilse imran
ines ingrid irene irina irma isaac isabel isabella isabelle isaiah isla ismail ivan ivana jack jackie jacob
jacqueline jacques jaime jake jakob jakub james jamie jan jana jane janet janice janine jared jasmine jason
javier jay jean jeanette jeanne jeff jeffrey jen jenna jennie jennifer jenny jeremiah jeremy jerome jerry
jesse jessica jessie jesus jill jim jimena jimmy jin joachim joan joana joanna joanne joao jochen jody joe
joel joey johan johann johanna johannes john johnny jon jonas jonathan jorge jose josef josefine joseph
josephine josh joshua josie joyce juan juana juanita judith judy jules julian juliana julianna julie julien
juliet juliette julio jurgen justin justine kaitlyn kamal kamala karen karim karin karina karl karla kasper
katarina kate katerina katharina katherine kathleen kathryn kathy katie katja katrin katrina katya kay kayla
keira keith kelly kelsey ken kendra kenji kenneth kenny kerry kevin khadija khalid kiara kieran kim kimberly
kiran kirsten klara klaus kristen kristian kristin kristina kumar kurt kyle kylie kyra lara larissa larry
lars laura lauren laurence laurent laurie lea leah leandro lee leila lena lennart leo leon leonard leonardo
leonie leonor leroy leslie leticia lewis liam lidia lila lilian liliana lillian lina linda lindsay lindsey
linus lionel lisa liv livia liz liza lizzie lloyd lois lorena lorenzo loretta lori lorraine lotte louis
louisa louise luca lucas lucia luciana luciano lucien lucinda lucy ludwig luigi luis luisa luka lukas luke
luna lydia lynn mabel maddie mads magdalena maggie magnus mahmoud maja malcolm malik mandy manfred manuel
manuela mara marc marcel marcela marcello marcia marco marcos marcus margaret margarita margot maria mariam
marian mariana marianne marie marilyn marina mario marion marisa marisol marjorie marko marlene marta martha
martin martina marty marvin mary mateo mathias mathilde mathis matilda matt matteo matthew matthias maureen
maurice mauricio maurizio max maxim maxime maximilian maya megan mehmet mei melanie melinda melissa melvin
mercedes meredith mia michael michaela michal michel michele michelle mick miguel mika mikael mike mikhail
mila milan milena miles millie milo mina mindy ming mira miranda miriam mitch mitchell moana mohamed
mohammad mohammed moira molly mona monica monika monique morgan moritz muhammad muriel mustafa myra nadia
nadine nancy naomi natalia natalie natasha nate nathalie nathan nathaniel neha neil nelly nelson nia niall
nicholas nick nicklas nico nicola nicolas nicole niels nigel nikhil nikita nikolai nils nina noah noel
noelia noemi nora norbert noreen norma norman nuria octavia oleg olga oliver olivia olivier oluwaseun omar
oscar oskar osman otto owen pablo paige paloma pamela paolo pascal patricia patricio patrick patrik patty
paul paula paulina pauline pavel pedro peggy penelope penny per pete peter petra phil philip philipp
philippa philippe phillip phoebe phyllis pia pierre pilar piotr polly prakash pranav priya qing quentin
quinn rachel rafael raffaele rahul raj rajesh ralph ramon ramona randall randy raphael raquel rashid raul
ravi raymond rebecca regina reinhard renata renate rene renee reza rhonda ricardo richard rick ricky rita
rob robbie robert roberta roberto robin rodney rodrigo roger rohan rohit roland rolf roman ron ronald ronan
ronnie rory rosa rosalie rosalind rosanna rosario rosemary rosie ross roxanne roy rudolf rudy rupert russell
ruth ryan sabine sabrina sadie saeed salim sally salma salvador salvatore sam samantha samara samir sammy
samuel sandeep sandra sanjay santiago sara sarah sasha saskia scott sean sebastian sebastien selena selina
serena serge sergei sergey sergio seth shannon sharon shaun shauna shawn sheila shelby shelly sheryl shirley
shreya sidney siegfried sigrid silke silvia simon simona simone siobhan sofia sofie sonia sonja sophia
sophie soren stacey stacy stanley stefan stefania stefanie stella stephan stephane stephanie stephen
sterling steve steven stuart sunil suresh susan susana susanna susanne susie suzanne sven svenja svetlana
sylvia sylvie tabitha tamara tammy tania tanya tara tariq tatiana ted teresa terrence terry tessa theo
theodore theresa therese thomas thorsten tiago tiffany tim timothy tina tobias todd tom tomas tommy toni
tony tracey tracy travis trevor tricia tristan troy tyler ulrich ulrike uma umar ursula uwe valentin
valentina valeria valerie vanessa vera verena vernon veronica veronika vicente vicki vicky victor victoria
vijay vikram viktor vince vincent vincenzo viola violeta vivian viviana vivienne vladimir walter wanda
warren wayne wendy werner wesley wilfred wilhelm willem william willie wolfgang xavier ximena yan yannick
yara yasmin yasmine yolanda yosef yousef yuki yuri yusuf yvette yvonne zachary zahra zara zeynep zoe zoey
zofia
"""

GIVEN_NAMES = frozenset(_NAMES.split())
